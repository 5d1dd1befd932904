//! Cures in the words of Triton, whose programs choose blocks, strides and stages, and leave threads and layouts of shared
//! memory to the compiler.

use results::{Advice, AdviceKind};
use simt::Module;

/// Returns whether Triton made a module: LLVM's back end wrote the text, of lines of Python.
pub fn wrote(module: &Module) -> bool {
    let text = module.source();
    text.contains("LLVM NVPTX Back-End") && text.contains(".py\"")
}

/// Says the cure of an advice in Triton's words; nothing where no word of its language changes what was found.
pub fn in_its_words(advice: Advice) -> Option<Advice> {
    let cure = match advice.kind {
        AdviceKind::StridedAccess => {
            "let the last dimension of the block run along memory: exchange `[:, None]` and `[None, :]` in the pointers, \
             or make the tensor contiguous in that dimension"
        }
        AdviceKind::ScatteredAccess => {
            "sort the indices, so that neighbouring elements of a block want neighbouring elements of the tensor, or \
             load whole blocks of the table and pick from them by `tl.gather`"
        }
        AdviceKind::MisalignedAccess => {
            "pad rows, so that their strides are multiples of 16 elements, and let blocks begin at such a multiple"
        }
        AdviceKind::NarrowAccess => {
            "let Triton know that pieces of 16 bytes are aligned and masked as one: pad the tensor, so that its length and \
             strides are multiples of 16, or say so by `tl.multiple_of` and `tl.max_contiguous`"
        }
        AdviceKind::BankConflict => {
            "Triton chooses where the elements of a block lie in shared memory: try other block sizes, `num_warps`, \
             `num_stages`, or the other order of the operand's strides"
        }
        AdviceKind::ContendedAtomic => {
            "reduce the block first, by `tl.sum` or `tl.reduce`, and let one `tl.atomic_add` per block follow"
        }
        AdviceKind::LocalMemory => {
            "let each thread hold fewer elements, by smaller block sizes or more `num_warps`, so that they stay in registers"
        }
        AdviceKind::LowOccupancy => {
            "let more blocks fit on a multiprocessor, by smaller block sizes or fewer `num_stages`, or keep more loads under \
             way, by more `num_stages`"
        }
        AdviceKind::Divergence | AdviceKind::DivergentConstant => return None,
        AdviceKind::PageableCopy | AdviceKind::SmallCopies | AdviceKind::MissingOverlap => {
            return Some(advice);
        }
    };
    // What is promised of a padding is promised of that padding.
    let promise = advice.promise.filter(|_| advice.kind != AdviceKind::BankConflict);
    Some(Advice { cure: cure.to_owned(), promise, ..advice })
}
