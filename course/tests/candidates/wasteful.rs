//! Right kernels that do something needless besides, so that every bound is broken by one: the solution, with a needless
//! barrier, load, use of shared memory or store.

use super::build::solution;
use course::tasks::named;

/// The tasks whose bounds nothing else breaks, and what is added to their solutions.
const ADDED: &[(&str, &[Waste])] = {
    use Waste::*;
    &[
        ("guard", &[Load, Store]),
        ("every_third", &[Barrier, Load, Shared]),
        ("two_writers", &[Store]),
        ("wide_loads", &[Load]),
        ("barrier_in_branch", &[Barrier]),
        ("uninitialized_halo", &[Barrier, Shared]),
        ("copy_not_awaited", &[Barrier, Load]),
        ("pad_the_tile", &[Load, Shared, Exchange]),
        ("swizzle_the_tile", &[Load, Shared, Exchange]),
        ("doubles_turned", &[Load, Shared, Exchange]),
        ("window_sum", &[Barrier, Shared]),
        ("matmul_tile", &[Barrier, Shared]),
        ("tree", &[Barrier, Shared]),
        ("lockstep", &[Barrier]),
        ("wrong_mask", &[Load, Store]),
        ("lost_update", &[Load]),
        ("bins_private", &[Barrier, Shared]),
        ("constant_walk", &[Load]),
        ("spilled", &[Load]),
        ("half_and_half", &[Permute]),
        ("boss_row_sums", &[Load, Shared]),
        ("boss_capitals", &[Load]),
        ("boss_table", &[Barrier, Shared]),
        ("boss_matches", &[Load, Store]),
        ("boss_classes", &[Load]),
    ]
};

#[derive(Clone, Copy)]
enum Waste {
    Barrier,
    /// A load at the beginning in which lanes are 8 elements apart, where the arrays are large enough.
    Load,
    /// An array of shared memory, each word of which one thread writes: 32 lanes write one bank.
    Shared,
    /// Every store to the target is done twice.
    Store,
    /// Lanes leave a tile along its other side.
    Exchange,
    /// Lanes are 32 elements apart.
    Permute,
}

pub fn kernels() -> impl Iterator<Item = (&'static str, String)> {
    ADDED.iter().map(|(id, added)| {
        let task = named(id).expect("a task");
        (*id, added.iter().fold(solution(task), |source, waste| waste.added_to(&source, id)))
    })
}

impl Waste {
    fn added_to(self, source: &str, id: &str) -> String {
        let thread = "(thread::thread_idx_x() + thread::block_dim_x() * thread::thread_idx_y())";
        match self {
            Waste::Barrier => begun(source, id, "thread::sync_threads();"),
            Waste::Load => {
                let array = first_array(source, id);
                let enough = "thread::grid_dim_x() * thread::grid_dim_y() > 3";
                let load = format!(
                    "core::ptr::read_volatile({array}.add((8 * ({thread} % 32)) as usize))"
                );
                begun(source, id, &format!("if {enough} {{ let _ = unsafe {{ {load} }}; }}"))
            }
            Waste::Shared => {
                let word = format!("({thread} % 32 * 32 + {thread} / 32)");
                let array = "#[address_space(shared)]\nstatic mut MORE: core::mem::MaybeUninit<[u32; 1024]> = core::mem::MaybeUninit::uninit();";
                let store = format!(
                    "core::ptr::write_volatile((&raw mut MORE).cast::<u32>().add({word} as usize), 0)"
                );
                begun(source, id, &format!("{array}\nunsafe {{ {store} }};"))
            }
            Waste::Store => {
                let at = source.find("*target.add(").expect("it stores to `target`");
                let end = at + source[at..].find(" = ").expect("a value is stored");
                let length = source[end + 3..].find([';', '}']).expect("the store ends");
                let (place, value) = (&source[at + 1..end], &source[end + 3..end + 3 + length]);
                let twice = format!(
                    "{{ let value = {value}; core::ptr::write_volatile({place}, value); core::ptr::write_volatile({place}, value) }}"
                );
                format!("{}{twice}{}", &source[..at], &source[end + 3 + length..])
            }
            Waste::Exchange => {
                let line = "    let (row, column) = (first_row + x, first_column + y);\n";
                assert!(source.contains(line), "{id} has the line that is changed");
                source.replace(line, &format!("    let (x, y) = (y, x);\n{line}"))
            }
            Waste::Permute => {
                assert!(source.contains("let i = thread;"), "{id} has the line that is changed");
                let permuted = "let i = if thread < n / 1024 * 1024 { thread / 1024 * 1024 + thread % 32 * 32 + thread % 1024 / 32 } else { thread };";
                source.replace("let i = thread;", permuted)
            }
        }
    }
}

/// A kernel that does this first.
fn begun(source: &str, id: &str, what: &str) -> String {
    let start = source.find(&format!("fn {id}(")).expect("it has its kernel");
    let body = start + source[start..].find('{').expect("it has a body") + 1;
    format!("{}\n{what}\n{}", &source[..body], &source[body..])
}

/// The name of the first array that a kernel reads.
fn first_array<'a>(source: &'a str, id: &str) -> &'a str {
    let start = source.find(&format!("fn {id}(")).expect("it has its kernel");
    let before = source[start..].find(": *const").expect("it reads an array");
    let text = &source[start..start + before];
    text.rsplit(['(', ' ', '\n']).next().expect("a parameter has a name")
}
