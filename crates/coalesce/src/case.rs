//! One problem: inputs, and what must come out.

use crate::data::{Data, Tolerance};

/// Inputs and what must come out.
#[derive(Clone, Debug)]
pub struct Case {
    /// Read-only arrays.
    pub inputs: Vec<Data>,
    /// Written arrays.
    pub outputs: Vec<Output>,
}

impl Case {
    /// A case whose outputs are exact. They come first, because they are made of the inputs.
    pub fn exact(outputs: Vec<Data>, inputs: Vec<Data>) -> Case {
        Case { inputs, outputs: outputs.into_iter().map(Output::exact).collect() }
    }
}

/// An output array.
#[derive(Clone, Debug)]
pub struct Output {
    /// The whole array after the launch. An element that must stay untouched is poison here.
    pub reference: Data,
    /// The difference from the reference that is accepted.
    pub tolerance: Tolerance,
    /// The contents of the array before the launch.
    pub before: Before,
}

/// The contents of an output before a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// [`crate::data::POISON`]: every element must be written.
    Poison,
    /// Zeros: the kernel accumulates.
    Zeros,
    /// The values of the input of this index: the kernel works in place.
    Input(usize),
}

impl Case {
    /// True when a kernel replaces what it reads, so that a second launch does other work than the first.
    pub fn is_in_place(&self) -> bool {
        self.outputs.iter().any(|output| matches!(output.before, Before::Input(_)))
    }

    /// The bytes of all arrays.
    pub fn byte_len(&self) -> usize {
        let inputs: usize = self.inputs.iter().map(Data::byte_len).sum();
        inputs + self.outputs.iter().map(|output| output.reference.byte_len()).sum::<usize>()
    }
}

impl Output {
    /// An output that is written whole.
    pub fn exact(reference: Data) -> Self {
        Self { reference, tolerance: Tolerance::Exact, before: Before::Poison }
    }

    /// An output of rounded sums.
    pub fn near(reference: Data, tolerance: Tolerance) -> Self {
        Self { reference, tolerance, before: Before::Poison }
    }

    /// Makes the output begin with the values of an input, for a kernel that works in place. They are restored before
    /// each launch, which is not timed or counted; the kernel takes the output alone.
    ///
    /// ```
    /// # use coalesce::data::Data;
    /// # use coalesce::pattern::{Case, Output};
    /// let (numbers, sorted) = (vec![3_u32, 1, 2], vec![1, 2, 3]);
    /// let output = Output::exact(Data::U32(sorted)).in_place_of(0);
    /// let case = Case { inputs: vec![Data::U32(numbers)], outputs: vec![output] };
    /// ```
    pub fn in_place_of(self, input: usize) -> Self {
        Self { before: Before::Input(input), ..self }
    }
}
