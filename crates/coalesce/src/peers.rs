//! Peers: the same work in CUDA C++ and by NVIDIA's libraries, on our buffers and our stream.
//!
//! They come as a shared library, `peers/peers.cu` built by nvcc, and are variants like any other: checked whole before
//! and after, measured in turn with ours.

use crate::arrays::Arrays;
use crate::catalogue::Catalogue;
use crate::pattern::{Expectation, Pattern, Size, Variant, Work};
use anyhow::{Context, Result, bail};
use cuda_host::Gpu;
use libloading::Library;
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;

/// The version of the library's interface: its function `coalesce_peers` is asked for this one.
const VERSION: u32 = 1;

/// Enqueues a peer's work on a stream: the addresses of the inputs and outputs, the numbers of the size. The result is
/// null, or a sentence that says what failed.
type Run = unsafe extern "C" fn(
    stream: *mut c_void,
    inputs: *const u64,
    outputs: *const u64,
    size: *const usize,
) -> *const c_char;

/// A peer as the library lists it.
#[repr(C)]
struct Entry {
    pattern: *const c_char,
    variant: *const c_char,
    output: usize,
    run: Run,
}

/// A peer that can run.
#[derive(Clone, Copy, Debug)]
pub struct Peer(Run);

impl Peer {
    /// Enqueues its work.
    ///
    /// # Errors
    /// What the library says.
    pub fn run(self, gpu: &Gpu, arrays: &Arrays, size: &Size) -> Result<()> {
        let (inputs, outputs) = arrays.addresses();
        // SAFETY: the library was built for this interface, which `load` asked for; it stays loaded. The arrays are
        // those of the pattern that the entry names, and the size has the numbers of its dimensions.
        let message = unsafe {
            (self.0)(
                gpu.stream().as_inner().cast(),
                inputs.as_ptr(),
                outputs.as_ptr(),
                size.values().as_ptr(),
            )
        };
        if message.is_null() {
            return Ok(());
        }
        // SAFETY: by the interface a message is a string that stays.
        bail!("{}", unsafe { CStr::from_ptr(message) }.to_string_lossy())
    }
}

/// The peers of a library, by the names of their patterns. The library stays loaded.
///
/// # Errors
/// When there is no such library, or it has another interface.
///
/// # Safety
/// The file is a library whose `coalesce_peers` has the interface that `peers/peers.cu` describes: names end with NUL
/// and stay, and its functions work on the arrays and sizes of the patterns that they name.
pub unsafe fn load(path: &Path, catalogue: &Catalogue) -> Result<Vec<(String, &'static Variant)>> {
    let cannot = || {
        format!(
            "cannot load the peers {}: build them with `cargo xtask bench --peers`, or see the first lines of \
             peers/peers.cu",
            path.display()
        )
    };
    // A name without a folder would be looked for in the system's folders.
    let path = std::path::absolute(path).with_context(cannot)?;
    // SAFETY: by the caller's contract it is a library of peers, whose initialization is that of CUDA's runtime.
    let library = unsafe { Library::new(path) }.with_context(cannot)?;
    type List = unsafe extern "C" fn(version: u32, count: *mut usize) -> *const Entry;
    let mut count = 0;
    // SAFETY: the function has this signature in every version of the interface.
    let entries = unsafe {
        let list = library.get::<List>("coalesce_peers").with_context(cannot)?;
        list(VERSION, &mut count)
    };
    if entries.is_null() {
        bail!("{}: it was built for another version of this program", cannot());
    }
    std::mem::forget(library);
    // SAFETY: the library has `count` entries there, which stay.
    let entries = unsafe { std::slice::from_raw_parts(entries, count) };
    // SAFETY: names are strings that stay.
    let text = |name| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    let peer = |entry: &'static Entry| {
        let pattern = text(entry.pattern);
        let output = std::slice::from_ref(&entry.output);
        let variant = variant(catalogue, &pattern, text(entry.variant), output, Peer(entry.run));
        (pattern, variant)
    };
    Ok(entries.iter().map(peer).collect())
}

/// A variant that lives as long as the library. A twin needs what ours needs.
fn variant(
    catalogue: &Catalogue,
    pattern: &str,
    name: String,
    outputs: &'static [usize],
    peer: Peer,
) -> &'static Variant {
    let mut variant = Variant {
        name: name.leak(),
        change: "not ours",
        since: 0,
        precondition: Variant::ANY_SIZE,
        outputs,
        work: Work::Peer(peer),
        expect: |_| Expectation::default(),
    };
    if let Some(own) = catalogue.pattern(pattern).and_then(|pattern| pattern.own(&variant)) {
        (variant.since, variant.precondition) = (own.since, own.precondition);
    }
    Box::leak(Box::new(variant))
}

/// The peers of a pattern.
pub fn of<'a>(
    peers: &'a [(String, &'static Variant)],
    pattern: &Pattern,
) -> impl Iterator<Item = &'static Variant> + use<'a> {
    let name = pattern.name;
    peers.iter().filter(move |(of, _)| of == name).map(|(_, variant)| *variant)
}
