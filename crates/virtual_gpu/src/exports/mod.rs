//! The driver API's functions on the virtual device, and the table in which they are found by name.

mod arguments;
mod array;
mod context;
mod define;
mod descriptor;
mod device;
mod graph;
mod graph_node;
mod image;
mod inter_process;
mod kernel;
mod legacy;
mod library;
mod linker;
mod mapped_memory;
mod memory;
mod pool;
mod stream;
mod stream_memory;
mod tensor_map;
mod texture;
mod transfer;

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::OnceLock;

/// Function that returns the address of a name which only the library of the virtual GPU exports.
pub type FindExported = fn(&str) -> Option<*mut c_void>;

/// Finds what only the library of the virtual GPU exports, where this is that library.
pub(crate) static ALSO: OnceLock<FindExported> = OnceLock::new();

pub(crate) fn symbol(name: &str) -> Option<NonNull<c_void>> {
    let find = define::FIND.get_or_init(|| both);
    find(name).and_then(|[legacy, _]| NonNull::new(legacy))
}

fn both(name: &str) -> Option<[*mut c_void; 2]> {
    let tables = [
        array::table,
        context::table,
        device::table,
        graph::table,
        graph_node::table,
        kernel::table,
        legacy::table,
        library::table,
        linker::table,
        inter_process::table,
        mapped_memory::table,
        memory::table,
        pool::table,
        stream::table,
        stream_memory::table,
        tensor_map::table,
        texture::table,
        transfer::table,
    ];
    let mut rows = tables.into_iter().flat_map(|table| table());
    rows.find(|(known, _)| *known == name).map(|(_, addresses)| addresses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_driver::api::Symbol;

    #[test]
    fn functions_are_found_by_the_names_of_the_drivers_table() {
        assert!(symbol("cuLaunchKernel").is_some());
        assert!(symbol("cuNoSuchFunction").is_none());
        let has =
            |known: &&Symbol| known.c_name().to_str().is_ok_and(|name| symbol(name).is_some());
        assert!(Symbol::ALL.iter().filter(has).count() > 100);
    }
}
