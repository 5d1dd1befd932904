//! Printing from a kernel, without allocation.
//!
//! What a kernel prints goes into a buffer of the device (1 MiB unless the host asks for more; when
//! it is full the oldest text is lost) which the driver writes to the standard output of the process
//! at the next synchronization.
//!
//! [`print!`](crate::print) formats as Rust does, in a buffer of the thread's local memory. That calls
//! functions through pointers, of which the assembler knows neither the registers nor the stack: a
//! kernel that uses it has 255 registers, and the host must raise the stack limit
//! (`CU_LIMIT_STACK_SIZE`) from 1 KiB to at least 4 KiB, without which the launch fails with an illegal
//! address. Its PTX is 50 KB, and 150 KB where a float is printed, whose digits are exact.
//! [`printf!`](crate::printf) formats on the host, as C does, and costs one call.
//!
//! Source: CUDA C++ Programming Guide, "Formatted Output".
//!
//! ```no_run
//! # let sum = 1.5_f32;
//! cuda_std::println!("the sum is {sum}");
//! ```

#[doc(hidden)]
pub mod float;

use core::ffi::c_void;
use core::fmt;

#[doc(hidden)]
pub use cuda_std_macros::formatted;

/// Declares functions of every CUDA device, and panicking twins elsewhere.
macro_rules! of_the_device {
    ($($(#[$documentation:meta])* fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        #[cfg(target_arch = "nvptx64")]
        unsafe extern "C" {
            $($(#[$documentation])* pub fn $name($($argument: $kind),*) $(-> $result)?;)*
        }
        $(
            $(#[$documentation])*
            #[cfg(not(target_arch = "nvptx64"))]
            pub unsafe fn $name($(_: $kind),*) $(-> $result)? {
                crate::nvvm::outside_kernel(stringify!($name))
            }
        )*
    };
}

of_the_device! {
    /// Prints a text in C's format.
    ///
    /// # Safety
    /// - The format is valid for reads up to a zero byte.
    /// - Behind `valist` are its arguments one after the other, each at its alignment.
    fn vprintf(format: *const u8, valist: *const c_void) -> i32;
    /// Ends the grid with the error of a failed assertion.
    ///
    /// # Safety
    /// - The three texts are valid for reads up to a zero byte.
    fn __assertfail(message: *const u8, file: *const u8, line: u32, function: *const u8, char_size: usize);
}

/// The bytes that are printed by one call, of which calls of other threads cannot break up.
const CAPACITY: usize = 256;

/// A text on its way to the device's print buffer, in pieces of up to 255 bytes.
pub struct Printer {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl Printer {
    /// A printer with nothing to print.
    #[must_use]
    pub const fn new() -> Self {
        Printer { bytes: [0; CAPACITY], length: 0 }
    }

    /// Prints what has been written so far.
    #[inline(never)]
    pub fn flush(&mut self) {
        if self.length == 0 {
            return;
        }
        if let Some(end) = self.bytes.get_mut(self.length) {
            *end = 0;
        }
        self.length = 0;
        let text: *const u8 = (&raw const self.bytes).cast();
        // SAFETY: the format takes one string, whose pointer is what `arguments` points to, and
        // which ends with a zero byte. `vprintf` copies it before it returns.
        unsafe { vprintf(c"%s".as_ptr().cast(), (&raw const text).cast()) };
    }
}

impl Default for Printer {
    fn default() -> Self {
        Self::new()
    }
}

// Each function stands once in the PTX: what formatting costs is its size.
impl fmt::Write for Printer {
    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            // One byte remains for the zero at the end.
            if self.length >= CAPACITY - 1 {
                self.flush();
            }
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = byte;
            }
            self.length += 1;
        }
        Ok(())
    }

    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn write_char(&mut self, letter: char) -> fmt::Result {
        self.write_str(letter.encode_utf8(&mut [0; 4]))
    }

    #[inline(never)]
    fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) -> fmt::Result {
        fmt::write(self, arguments)
    }
}

/// Prints formatted text; what [`print!`](crate::print) expands to.
#[doc(hidden)]
#[inline(never)]
pub fn print(arguments: fmt::Arguments<'_>) {
    let mut printer = Printer::new();
    // A `Printer` does not fail, and a value whose formatting fails has printed what it could.
    let _ = fmt::Write::write_fmt(&mut printer, arguments);
    printer.flush();
}

/// Prints from a kernel, formatted as by `std::print!`. PTX: calls of `vprintf`.
#[macro_export]
macro_rules! print {
    ($($argument:tt)*) => {
        $crate::io::formatted!($crate "" $($argument)*)
    };
}

/// Prints a line from a kernel, formatted as by `std::println!`. PTX: calls of `vprintf`.
#[macro_export]
macro_rules! println {
    () => {
        $crate::print!("\n")
    };
    ($($argument:tt)*) => {
        $crate::io::formatted!($crate "\n" $($argument)*)
    };
}

/// A value that C's variadic functions take, as the type they take it as.
pub trait PrintfArgument {
    /// The type after C's default promotions.
    type Promoted: Copy;
    /// The value after C's default promotions.
    fn promote(self) -> Self::Promoted;
}

/// Declares what arguments are promoted to.
macro_rules! promotions {
    ($($kind:ty => $promoted:ty;)*) => {
        $(
            impl PrintfArgument for $kind {
                type Promoted = $promoted;

                #[inline(always)]
                fn promote(self) -> $promoted {
                    self.into()
                }
            }
        )*
    };
}

promotions! {
    u8 => u32; i8 => i32; u16 => u32; i16 => i32; u32 => u32; i32 => i32; u64 => u64; i64 => i64;
    f32 => f64; f64 => f64;
}

impl PrintfArgument for usize {
    type Promoted = u64;

    #[inline(always)]
    fn promote(self) -> u64 {
        self as u64
    }
}

impl<T> PrintfArgument for *const T {
    type Promoted = *const T;

    #[inline(always)]
    fn promote(self) -> *const T {
        self
    }
}

impl<T> PrintfArgument for *mut T {
    type Promoted = *mut T;

    #[inline(always)]
    fn promote(self) -> *mut T {
        self
    }
}

/// Declares structs of the arguments of one `printf!`, one behind the other, each at its alignment.
macro_rules! argument_structs {
    ($($name:ident($($letter:ident),*);)*) => {
        $(
            #[doc(hidden)]
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $name<$($letter),*>($(pub $letter),*);
        )*
    };
}

argument_structs! {
    PrintfArguments1(A);
    PrintfArguments2(A, B);
    PrintfArguments3(A, B, C);
    PrintfArguments4(A, B, C, D);
    PrintfArguments5(A, B, C, D, E);
    PrintfArguments6(A, B, C, D, E, F);
    PrintfArguments7(A, B, C, D, E, F, G);
    PrintfArguments8(A, B, C, D, E, F, G, H);
}

/// Prints from a kernel in C's format: `unsafe { printf!("%d: %f\n", index, value) }`.
/// PTX: one call of `vprintf`. The value is the number of arguments, or negative after an error.
///
/// Takes up to eight integers, floats and pointers. `u64`, `i64` and `usize` are `%llu`, `%lld`.
///
/// # Safety
/// - The format must ask for as many arguments as there are, of their types, and must not use `%n`.
/// - `%s` needs a pointer to text that ends with a zero byte.
#[macro_export]
macro_rules! printf {
    ($format:literal $(, $argument:expr)* $(,)?) => {{
        let arguments = $crate::printf_arguments!($($argument),*);
        $crate::io::vprintf(
            ::core::concat!($format, "\0").as_ptr().cast(),
            (&raw const arguments).cast(),
        )
    }};
}

/// The struct of the promoted arguments of one `printf!`.
#[doc(hidden)]
#[macro_export]
macro_rules! printf_arguments {
    () => {
        ()
    };
    ($a:expr) => { $crate::printf_arguments!(@ PrintfArguments1 $a) };
    ($a:expr, $b:expr) => { $crate::printf_arguments!(@ PrintfArguments2 $a $b) };
    ($a:expr, $b:expr, $c:expr) => { $crate::printf_arguments!(@ PrintfArguments3 $a $b $c) };
    ($a:expr, $b:expr, $c:expr, $d:expr) => { $crate::printf_arguments!(@ PrintfArguments4 $a $b $c $d) };
    ($a:expr, $b:expr, $c:expr, $d:expr, $e:expr) => { $crate::printf_arguments!(@ PrintfArguments5 $a $b $c $d $e) };
    ($a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr) => { $crate::printf_arguments!(@ PrintfArguments6 $a $b $c $d $e $f) };
    ($a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr, $g:expr) => { $crate::printf_arguments!(@ PrintfArguments7 $a $b $c $d $e $f $g) };
    ($a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr, $g:expr, $h:expr) => { $crate::printf_arguments!(@ PrintfArguments8 $a $b $c $d $e $f $g $h) };
    (@ $name:ident $($argument:expr)*) => {
        $crate::io::$name($($crate::io::PrintfArgument::promote($argument)),*)
    };
}
