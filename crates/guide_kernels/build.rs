//! Writes the kernels of the guide's pages as modules.

#[path = "../guide/blocks.rs"]
mod blocks;

fn main() {
    blocks::write("blocks.rs", &blocks::kernels());
}
