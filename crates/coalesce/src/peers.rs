//! Peers: the same work in CUDA C++ and by NVIDIA's libraries, on our buffers and our stream.
//!
//! They come as a shared library, `peers/peers.cu` built by nvcc, and are variants like any other: checked whole before
//! and after, measured in turn with ours.
//!
//! ```
//! use coalesce::{pattern::{Pattern, Variant}, peers};
//!
//! fn print(peers: &[(String, &'static Variant)], pattern: &Pattern) {
//!     for peer in peers::of(peers, pattern) {
//!         println!("{} of {}", peer.name, pattern.name);
//!     }
//! }
//! ```

use crate::catalogue::Catalogue;
use crate::pattern::{Expectation, Implementation, Pattern, Variant};
use crate::peer::{Peer, Run};
use anyhow::{Context, Result, bail};
use libloading::Library;
use std::ffi::{CStr, OsStr, c_char};
use std::path::Path;

/// The version of the library's interface: its function `coalesce_peers` is asked for this one.
const VERSION: u32 = 1;

/// A peer as the library lists it.
#[repr(C)]
struct ListedPeer {
    pattern: *const c_char,
    variant: *const c_char,
    output: usize,
    run: Run,
}

/// A library of others that stays open as long as this lives.
pub(crate) struct OpenLibrary(Library);

impl OpenLibrary {
    /// Opens a file by its path, or by a name that the system's loader looks for.
    ///
    /// # Safety
    /// - The initialization of the library does no harm.
    pub(crate) unsafe fn open(file: &OsStr) -> Result<OpenLibrary> {
        // SAFETY: the caller's contract.
        Ok(OpenLibrary(unsafe { Library::new(file) }?))
    }

    /// A function by its name, to be called as long as the library is open.
    ///
    /// # Safety
    /// - `T` is the type of a pointer to the function that the library has by this name.
    pub(crate) unsafe fn function<T: Copy>(&self, name: &str) -> Result<T> {
        // SAFETY: the caller's contract.
        Ok(*unsafe { self.0.get::<T>(name) }?)
    }
}

/// The peers of a library, by the names of their patterns. The library stays loaded.
///
/// # Errors
/// When there is no such library, or it has another interface.
///
/// # Safety
/// - The file is a library whose `coalesce_peers` has the interface that `peers/peers.cu` describes: names end with
///   NUL and stay, and its functions work on the arrays and sizes of the patterns that they name.
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
    type List = unsafe extern "C" fn(version: u32, count: *mut usize) -> *const ListedPeer;
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
    let peer = |entry: &'static ListedPeer| {
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
        min_compute_capability: 0,
        precondition: Variant::ANY_SIZE,
        outputs,
        work: Implementation::Peer(peer),
        expect: |_| Expectation::default(),
    };
    if let Some(own) = catalogue.pattern(pattern).and_then(|pattern| pattern.own(&variant)) {
        (variant.min_compute_capability, variant.precondition) =
            (own.min_compute_capability, own.precondition);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Selection;
    use crate::measure::Plan;
    use crate::pattern::{Bytes, Case, Dimension, Size, Sweep};
    use std::ffi::c_void;

    unsafe extern "C" fn nothing(
        _stream: *mut c_void,
        _inputs: *const u64,
        _outputs: *const u64,
        _size: *const usize,
    ) -> *const c_char {
        std::ptr::null()
    }

    static PATTERN: Pattern = Pattern {
        name: "copy",
        group: "global",
        doc_source: "",
        dimensions: &[Dimension::extent("n", "elements", 1)],
        verify_sizes: &[],
        bench_size: &[64],
        count_size: &[64],
        sweeps: &[Sweep { dimension: 0, values: &[32, 64], variants: &[0] }],
        case: |_, _| Case { inputs: Vec::new(), outputs: Vec::new() },
        bytes: |_| Bytes { read: 0, written: 0 },
        minimum_time: |_, _| None,
        variants: &[
            Variant::kernel("swept", |_, _, _| Ok(())),
            Variant::kernel("picky", |_, _, _| Ok(()))
                .min_compute_capability(90)
                .only_when(|_| Err("it is picky")),
        ],
    };

    static ALL: &[&Pattern] = &[&PATTERN];
    const CATALOGUE: Catalogue = Catalogue::new("test", ALL, &[]);

    fn peer(name: &str) -> &'static Variant {
        variant(&CATALOGUE, PATTERN.name, name.to_owned(), &[0], Peer(nothing))
    }

    #[test]
    fn a_twin_goes_where_our_variant_goes() {
        let names = ["nvcc swept", "nvcc picky", "a library"];
        let own = names.map(|name| PATTERN.own(peer(name)).map(|own| own.name));
        assert_eq!(own, [Some("swept"), Some("picky"), None]);

        let selection = Selection { pattern: &PATTERN, variant: None };
        let mut plan = Plan::new(vec![selection]);
        plan.peers = names.map(|name| (PATTERN.name.to_owned(), peer(name))).into();
        let points = plan.points(&selection).expect("it fits");
        let peers_at = |index: usize| -> Vec<&str> {
            let variants = points[index].variants.iter().map(|variant| variant.name);
            variants.filter(|name| names.contains(name)).collect()
        };
        assert_eq!(peers_at(0), names, "the ladder");
        assert_eq!(peers_at(1), ["nvcc swept", "a library"], "the curve");
    }

    #[test]
    fn a_twin_needs_what_our_variant_needs() {
        let size = Size::new(&[64]);
        let twin = peer("nvcc picky");
        assert_eq!(
            (twin.min_compute_capability, (twin.precondition)(&size)),
            (90, Err("it is picky"))
        );
        let library = peer("a library");
        assert_eq!((library.min_compute_capability, (library.precondition)(&size)), (0, Ok(())));
    }
}
