//! Launches that do not wait, without `unsafe`: what they use is borrowed until a scope has waited.

use crate::argument::{Argument, ArgumentList, Arguments, SafeArgument};
use crate::error::Result;
use crate::launch::Launcher;
use crate::view::{Part, PartMut};
use cuda_std::kernel::{Parameter, SafeKernel};
use cuda_std::safe::{Plane, PlanePerThread, TransposedPlanePerThread};
use cust::function::GridSize;
use cust::memory::{DeviceBuffer, DeviceCopy};
use cust_ext::transfer;
use std::ops::{Deref, DerefMut};

/// Launches and copies on one stream, made inside [`Launcher::scope`]. It has the copies of [`transfer::Scope`].
pub struct LaunchScope<'scope, 'env: 'scope> {
    copies: &'scope transfer::Scope<'scope, 'env>,
    launcher: &'env Launcher<'env>,
}

/// Device memory that a scope has for itself until it ends: an argument of its launches, and a side of its copies.
#[derive(Debug)]
pub struct Lent<'scope, T: DeviceCopy>(transfer::Lent<'scope, T>);

/// Device memory that a scope reads until it ends, as others may: an argument of its launches, and a source of its copies.
#[derive(Debug)]
pub struct Shared<'scope, T: DeviceCopy>(transfer::Shared<'scope, T>);

impl Launcher<'_> {
    /// Runs `body`, which enqueues launches and copies on the launcher's stream, and waits for the stream.
    ///
    /// The host is free meanwhile, and so are other streams. Work of one scope runs in order.
    ///
    #[doc = example!("", safe, "mut x: DeviceBuffer<f32>, mut z: DeviceBuffer<f32>, host: &[f32]",
        "launcher.scope(|scope| {"
        "    let (mut x, mut z) = (scope.lend(&mut x)?, scope.lend(&mut z)?);"
        "    scope.upload(host, &mut x)?;"
        "    scope.launch(scale, 4, (2.0_f32, &x, &mut z))"
        "})")]
    /// Nothing that was lent can be used by another stream meanwhile:
    #[doc = example!("compile_fail,E0502", safe, "other: &Launcher<'_>, mut x: DeviceBuffer<f32>, mut z: DeviceBuffer<f32>, host: &[f32]",
        "launcher.scope(|scope| {"
        "    scope.upload(host, &mut scope.lend(&mut x)?)?;"
        "    other.run(scale, 4, (2.0_f32, &x, &mut z))"
        "})")]
    ///
    /// # Errors
    /// Those of `body`, a capture of the stream, and [`GpuError::Fault`](crate::GpuError::Fault) when a kernel stops with
    /// an error.
    pub fn scope<'env, R>(
        &'env self,
        body: impl for<'scope> FnOnce(&LaunchScope<'scope, 'env>) -> Result<R>,
    ) -> Result<R> {
        let waited = transfer::scope(self.stream(), |copies| {
            Ok(body(&LaunchScope { copies, launcher: self }))
        });
        match waited {
            Ok(done) => done,
            Err(error) => {
                // A fault is told with the launches that may have caused it.
                if error.code().is_some() {
                    self.finish()?;
                }
                Err(error.into())
            }
        }
    }
}

impl<'scope> LaunchScope<'scope, '_> {
    /// Borrows device memory for the rest of the scope, which may then write it.
    ///
    /// # Errors
    /// The driver's, when what cust's calls without a stream left under way has failed.
    pub fn lend<T: DeviceCopy>(
        &self,
        buffer: &'scope mut DeviceBuffer<T>,
    ) -> Result<Lent<'scope, T>> {
        Ok(Lent(self.copies.lend(buffer)?))
    }

    /// Borrows device memory for the rest of the scope, which then reads it; so may others.
    ///
    /// # Errors
    /// As for [`Self::lend`].
    pub fn share<T: DeviceCopy>(
        &self,
        buffer: &'scope DeviceBuffer<T>,
    ) -> Result<Shared<'scope, T>> {
        Ok(Shared(self.copies.share(buffer)?))
    }

    /// Enqueues `kernel` with the block that it says.
    ///
    /// # Errors
    /// [`GpuError::Refused`](crate::GpuError::Refused), as for [`Launcher::run`].
    pub fn launch<F, A: ScopedArguments<'scope, F>>(
        &self,
        kernel: SafeKernel<F>,
        grid: impl Into<GridSize>,
        arguments: A,
    ) -> Result<()> {
        // SAFETY: the arguments are values and memory that is lent to this scope: until the stream was waited for it stays
        // allocated, and only this stream uses it, in order.
        unsafe { self.launcher.enqueue(kernel, grid, arguments) }
    }
}

impl<'scope, 'env> Deref for LaunchScope<'scope, 'env> {
    type Target = transfer::Scope<'scope, 'env>;

    fn deref(&self) -> &Self::Target {
        self.copies
    }
}

impl<'scope, T: DeviceCopy> Deref for Lent<'scope, T> {
    type Target = transfer::Lent<'scope, T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T: DeviceCopy> DerefMut for Lent<'_, T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'scope, T: DeviceCopy> Deref for Shared<'scope, T> {
    type Target = transfer::Lent<'scope, T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// An argument of a scope's launches: a value, or memory that was lent to this scope.
///
/// # Safety
/// - What the kernel may access through the parameter is valid, and is not accessed by other streams, until the scope
///   ends.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a scope's kernel that takes `{P}`",
    label = "not an argument for `{P}` in a scope",
    note = "a kernel's `&[T]` takes `&scope.share(&buffer)?`, its `PerThread<T>` takes `&mut scope.lend(&mut buffer)?`"
)]
pub unsafe trait ScopedArgument<'scope, P>: Argument<P> {}

// SAFETY: a value gives access to nothing.
unsafe impl<T: Parameter> ScopedArgument<'_, T> for T {}

/// Memory of a scope is passed as a view of it. A launch of the scope takes it where one that waits takes a buffer which is
/// borrowed in the same way.
macro_rules! lent {
    ($($lent:ty, $buffer:ty => $view:ident: $($plane:ty $([$rows:ident])?),*;)*) => {$(
        // SAFETY: as for the view.
        unsafe impl<'x, 'scope, T: DeviceCopy, P> Argument<P> for $lent
        where
            $view<'x, T>: Argument<P>,
        {
            const MOST_DIMENSIONS: usize = <$view<'x, T> as Argument<P>>::MOST_DIMENSIONS;

            fn append(&self, list: &mut ArgumentList) {
                $view::<'x, T>::of_lent(self).append(list);
            }

            fn length(&self) -> Option<usize> {
                $view::<'x, T>::of_lent(self).length()
            }

            fn fault(&self) -> Option<String> {
                $view::<'x, T>::of_lent(self).fault()
            }
        }

        // SAFETY: a launch that waits may access the buffer through the parameter while it is borrowed so; here it is
        // borrowed so until the scope ends, and the scope's own work is in order.
        unsafe impl<'x, 'scope, T: DeviceCopy, P> ScopedArgument<'scope, P> for $lent
        where
            $view<'x, T>: Argument<P>,
            $buffer: SafeArgument<P>,
        {
        }

        $(
            // SAFETY: as for the view.
            unsafe impl<'x, 'scope, T: DeviceCopy $(, const $rows: u32)?> Argument<$plane> for ($lent, [u32; 2]) {
                const MOST_DIMENSIONS: usize =
                    <($view<'x, T>, [u32; 2]) as Argument<$plane>>::MOST_DIMENSIONS;

                fn append(&self, list: &mut ArgumentList) {
                    Argument::<$plane>::append(&($view::<'x, T>::of_lent(&self.0), self.1), list);
                }

                fn fault(&self) -> Option<String> {
                    Argument::<$plane>::fault(&($view::<'x, T>::of_lent(&self.0), self.1))
                }
            }

            // SAFETY: as without a shape.
            unsafe impl<'x, 'scope, T: DeviceCopy $(, const $rows: u32)?> ScopedArgument<'scope, $plane>
                for ($lent, [u32; 2])
            where
                ($buffer, [u32; 2]): SafeArgument<$plane>,
            {
            }
        )*
    )*};
}
lent! {
    &'x Lent<'scope, T>, &'x DeviceBuffer<T> => Part: Plane<'static, T>;
    &'x Shared<'scope, T>, &'x DeviceBuffer<T> => Part: Plane<'static, T>;
    &'x mut Lent<'scope, T>, &'x mut DeviceBuffer<T> => PartMut:
        PlanePerThread<'static, T, ROWS> [ROWS], TransposedPlanePerThread<'static, T, ROWS> [ROWS];
}

impl<T: DeviceCopy> Part<'_, T> {
    fn of_lent(lent: &transfer::Lent<'_, T>) -> Self {
        // SAFETY: the memory is lent to the scope, whose launches alone take this, and work in order.
        unsafe { Part::at(lent.as_device_ptr().as_raw(), lent.len()) }
    }
}

impl<T: DeviceCopy> PartMut<'_, T> {
    fn of_lent(lent: &transfer::Lent<'_, T>) -> Self {
        // SAFETY: the memory is lent to the scope, whose launches alone take this, and work in order.
        unsafe { PartMut::at(lent.as_device_ptr().as_raw(), lent.len()) }
    }
}

/// A tuple of arguments that the launches of a scope may pass.
#[diagnostic::on_unimplemented(
    message = "these arguments do not fit the kernel's parameters, or are not lent to this scope",
    label = "the kernel is a `{F}`",
    note = "the arguments are `{Self}`; a scope's launch takes values, `&scope.share(&buffer)?` and `&mut scope.lend(&mut buffer)?`"
)]
///
/// # Safety
/// - Each value is a [`ScopedArgument`], and [`Arguments`] says the truth of them.
pub unsafe trait ScopedArguments<'scope, F>: Arguments<F> {}

macro_rules! tuples {
    ($($argument:ident $parameter:ident),*) => {
        // SAFETY: each is one, and the values of `Arguments` are theirs.
        unsafe impl<'scope, $($argument, $parameter,)*> ScopedArguments<'scope, fn($($parameter),*)> for ($($argument,)*)
        where $($argument: ScopedArgument<'scope, $parameter>,)*
        {
        }
    };
}
tuples!();
tuples!(A0 P0);
tuples!(A0 P0, A1 P1);
tuples!(A0 P0, A1 P1, A2 P2);
tuples!(A0 P0, A1 P1, A2 P2, A3 P3);
tuples!(A0 P0, A1 P1, A2 P2, A3 P3, A4 P4);
tuples!(A0 P0, A1 P1, A2 P2, A3 P3, A4 P4, A5 P5);
tuples!(A0 P0, A1 P1, A2 P2, A3 P3, A4 P4, A5 P5, A6 P6);
tuples!(A0 P0, A1 P1, A2 P2, A3 P3, A4 P4, A5 P5, A6 P6, A7 P7);
tuples!(A0 P0, A1 P1, A2 P2, A3 P3, A4 P4, A5 P5, A6 P6, A7 P7, A8 P8);
tuples!(A0 P0, A1 P1, A2 P2, A3 P3, A4 P4, A5 P5, A6 P6, A7 P7, A8 P8, A9 P9);
