use cuda_std::{assert, assert_eq, assert_ne, kernel, print, printf, println, thread};

/// Prints a line for each of the first `count` threads, as Rust formats it.
#[kernel]
pub unsafe fn print_rust(source: *const f32, count: u32) {
    let tid = thread::thread_idx_x();
    if tid < count {
        // SAFETY: the launch contract of the module.
        let value = unsafe { *source.add(tid as usize) };
        println!("thread {tid}: {value:.3}");
    }
}

/// Prints a line without floats.
#[kernel]
pub unsafe fn print_line(count: u32) {
    println!("{count} threads");
}

/// Prints what `print!` must not get wrong: shortest floats, exact ones, text around them, and every way to name an
/// argument, a width and a precision.
#[kernel]
pub unsafe fn print_floats(source: *const f32) {
    // SAFETY: the launch contract of the module: four floats.
    let [a, b, c, d] = unsafe { *source.cast::<[f32; 4]>() };
    print!("{}|{:?}|{:.3}|{:>9.1}|", a, b, c, d);
    let digits = 2;
    println!("{a:e} {0:1$.digits$} {name} {{{}}}", b, 9, name = c);
}

/// Prints a line for each of the first `count` threads, as C formats it.
#[kernel]
pub unsafe fn print_c(source: *const f32, count: u32) {
    let tid = thread::thread_idx_x();
    if tid < count {
        // SAFETY: the launch contract of the module; the format takes an unsigned number of 32 bits
        // and a float.
        unsafe { printf!("thread %u: %.3f\n", tid, *source.add(tid as usize)) };
    }
}

/// Prints a text longer than the buffer of `print!`.
#[kernel]
pub unsafe fn print_long(count: u32) {
    if thread::first() {
        print!("[{:>600}]\n", count);
    }
}

/// Panics in the thread of the given index, by an index out of bounds.
#[kernel]
pub unsafe fn panic_bounds(source: &[u32], target: *mut u32, index: u32) {
    // SAFETY: the launch contract of the module.
    unsafe { *target = source[index as usize] };
}

/// Panics in all threads unless the element is as expected.
#[kernel]
pub unsafe fn panic_assertion(source: *const u32, expected: u32) {
    // SAFETY: the launch contract of the module.
    let value = unsafe { *source.add(thread::thread_idx_x() as usize) };
    assert_eq!(value, expected, "the element of thread {}", thread::thread_idx_x());
    assert_ne!(value, 0);
}

/// Panics with a message in the threads from `count` on.
#[kernel]
pub unsafe fn panic_message(count: u32) {
    assert!(thread::thread_idx_x() < count, "a block has too many threads");
}
