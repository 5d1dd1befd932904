//! Examples of launches, whose hidden set-up is told once.

/// Writes an example with a kernel `scale`: the flags of the test, the kind of kernel, what is given, and the lines.
macro_rules! example {
    ($flags:literal, $kernel:ident, $given:literal, $($line:literal)+) => {
        concat!(
            "```", $flags, "\n# use cuda_host::{DevicePtrMut, Launcher};\n# use cuda_std::safe::PerThread;\n",
            "# use cust::memory::{DeviceBuffer, DeviceSlice};\n", example!(@$kernel),
            "# unsafe fn f(launcher: &Launcher<'_>, ", $given, ") -> Result<(), cuda_host::GpuError> {\n",
            $($line, "\n",)+ "# }\n```"
        )
    };
    (@raw) => {
        "# const scale: cuda_std::kernel::Kernel<fn(*const f32, *mut f32, u32)> =
#     unsafe { cuda_std::kernel::Kernel::new(\"scale\", (0, 0), (0, 0, 0), 0) };\n"
    };
    (@safe) => {
        "# const scale: cuda_std::kernel::SafeKernel<fn(f32, &'static [f32], PerThread<'static, f32>)> = unsafe {
#     let kernel = cuda_std::kernel::Kernel::new(\"scale\", (0, 0), (0, 0, 0), 0);
#     cuda_std::kernel::SafeKernel::new(kernel, (256, 1, 1), &[\"a\", \"x\", \"z\"], &[1, 2])
# };\n"
    };
}
