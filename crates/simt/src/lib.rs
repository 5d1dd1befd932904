//! A PTX executor: runs kernels without a GPU, bit for bit, and counts their memory traffic.
