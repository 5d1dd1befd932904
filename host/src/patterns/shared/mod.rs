pub mod async_copy;
pub mod bank_conflicts;
pub mod matmul;
pub mod matmul_aat;
pub mod matmul_ab;
pub mod matmul_tensor;
pub mod stencil;
pub mod transpose;
