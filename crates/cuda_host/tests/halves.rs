//! 16-bit floats: buffers of them are made of floats, fit kernels of floats, and become floats again.

use cuda_host::{GpuError, Half, Image, Parts, Stored, testing};
use cuda_std::kernel::{Kernel, SafeKernel};
use cuda_std::safe::PerThread;
use cuda_std::{bf16, f16};

/// A kernel of 16-bit elements: each thread that has one stores what `$add` makes of it.
macro_rules! entry {
    ($name:literal, $add:literal) => {
        concat!(
            ".visible .entry ",
            $name,
            "(.param .u64 x, .param .u64 xs, .param .u64 z, .param .u64 zs)
{
    .reg .pred %p<2>;
    .reg .b16 %h<3>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [z];
    ld.param.u64 %rd3, [zs];
    mov.u32 %r1, %tid.x;
    cvt.u64.u32 %rd4, %r1;
    setp.ge.u64 %p1, %rd4, %rd3;
    @%p1 bra END;
    mul.wide.u32 %rd4, %r1, 2;
    add.s64 %rd1, %rd1, %rd4;
    add.s64 %rd2, %rd2, %rd4;
    ld.global.b16 %h1, [%rd1];
    ",
            $add,
            ";
    st.global.b16 [%rd2], %h2;
END:
    ret;
}
"
        )
    };
}

/// Twice the element, as `f16`, or by its bits as `bf16`: one more in the exponent.
const PTX: &str = concat!(
    ".version 7.8\n.target sm_70\n.address_size 64\n",
    entry!("twice_f16", "add.rn.f16 %h2, %h1, %h1"),
    entry!("twice_bf16", "add.u16 %h2, %h1, 128"),
);

static IMAGES: &[Image] =
    // SAFETY: the kernels are those of the tokens below, and have no records.
    &[unsafe { Image::new(70, PTX, &[], "by hand", "unknown") }];

type Twice<T> = SafeKernel<fn(&'static [T], PerThread<'static, T>)>;

const fn token<T>(name: &'static str) -> Twice<T> {
    // SAFETY: the entry takes two addresses with their lengths; it reads and writes where both have an element.
    unsafe {
        SafeKernel::new(Kernel::new(name, (0, 0), (0, 0, 0), 0), (64, 1, 1), &["x", "z"], &[0, 1])
    }
}

const TWICE_F16: Twice<f16> = token("twice_f16");
const TWICE_BF16: Twice<bf16> = token("twice_bf16");

#[test]
fn floats_travel_without_their_bits() -> Result<(), GpuError> {
    let gpu = testing::gpu(IMAGES);
    let values: Vec<f16> = (0..40).map(|i| f16::from_f32(i as f32 / 4.0)).collect();
    let twice: Vec<f16> = values.iter().map(|value| *value + *value).collect();
    let x = gpu.upload(&values)?;
    // The kernel tells what the buffer has.
    let mut z = gpu.zeroed(values.len())?;
    gpu.launcher().run(TWICE_F16, 1, (&x, &mut z))?;
    assert_eq!(gpu.download(&z)?, twice);
    gpu.copy_from(&mut z, &values)?;
    let mut part = gpu.zeroed::<Half<f16>>(20)?;
    gpu.launcher().run(TWICE_F16, 1, (x.part(20..), part.part_mut(..)))?;
    assert_eq!(gpu.download(&part)?, twice[20..]);
    let mut back = vec![f16::ZERO; 40];
    gpu.copy_to(&z, &mut back)?;
    assert_eq!(back, values);

    let values: Vec<bf16> = (1..41).map(|i| bf16::from_f32(i as f32 / 4.0)).collect();
    let (x, mut z) = (gpu.upload(&values)?, gpu.filled(bf16::NAN, values.len())?);
    gpu.launcher().run(TWICE_BF16, 1, (&x, &mut z))?;
    let twice: Vec<bf16> = values.iter().map(|value| *value + *value).collect();
    assert_eq!(gpu.download(&z)?, twice);
    Ok(())
}

#[test]
fn a_scope_lends_floats() -> Result<(), GpuError> {
    let gpu = testing::gpu(IMAGES);
    let values = [1.5_f32, -2.0, 0.25].map(f16::from_f32);
    let mut twice = [f16::ZERO; 3];
    let (mut x, mut z) = (gpu.zeroed::<Half<f16>>(3)?, gpu.zeroed::<Half<f16>>(3)?);
    gpu.launcher().scope(|scope| {
        let (mut x, mut z) = (scope.lend(&mut x)?, scope.lend(&mut z)?);
        scope.upload(Half::of(&values), &mut x)?;
        scope.launch(TWICE_F16, 1, (&x, &mut z))?;
        Ok(scope.download(&z, Half::of_mut(&mut twice))?)
    })?;
    assert_eq!(twice, [3.0_f32, -4.0, 0.5].map(f16::from_f32));
    Ok(())
}
