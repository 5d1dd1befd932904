pub(crate) mod block_scaled;
pub(crate) mod matrix;
pub(crate) mod mma;
pub(crate) mod tensor_copy;
pub(crate) mod wgmma;
pub(crate) mod wmma;
