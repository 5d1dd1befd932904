pub(crate) use crate::cases::lengths;
pub use anyhow::Result;
pub use coalesce::arrays::Arrays;
pub use coalesce::data::{Data, Element, POISON, Random, Tolerance};
pub use coalesce::pattern::{
    Bytes, Case, Dimension, Expectation, HostWork, Output, Pattern, Preparation, Resource, Size,
    Sweep, Variant, fits_grid_y,
};
pub use coalesce::variant;
pub use cuda_host::{Gpu, GpuError, Launcher};
pub use cuda_std::kernel::Kernel;
