//! A virtual GPU behind the CUDA driver API, executing PTX with simt.
