//! Defines the CUDA driver API's symbols and forwards them to the driver opened at run time.
