//! Layout of `wmma`'s fragments: the lanes and registers of a matrix's elements.
//!
//! The PTX ISA leaves that open ("Warp Level Matrix Instructions: wmma"). This is what NVIDIA's assembler makes of it
//! for compute capability 8.0 and 9.0, read off its machine code: fragments are those of `mma.sync`. Cores of 8 rows
//! follow each other in the registers. With `group = lane / 4` and `place = lane % 4`, a lane has of each core some
//! neighbours at `place` in row `group`. Rows are those of A, the columns of B, and the rows of C and D, or the columns
//! of these where the shape has 8 rows: such a product is computed transposed.
//!
//! A lane moves a word of memory at a time, two in a row of C. Where the rows of memory are the columns of the cores, halves
//! are moved as they lie and then transposed by the warp (`MOVM`), and others one by one. Factors of one and two bytes in
//! shared memory are read by `ldmatrix`.

use crate::operation::{Access, FragmentMove, How, Register, Space};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matrix {
    A,
    B,
    Sum,
}

#[derive(Clone, Debug)]
pub(crate) struct Cores {
    /// The first row and column of each, in the order of the registers.
    pub starts: Vec<(u32, u32)>,
    /// Neighbours that a lane has of each.
    pub each: u32,
    /// The rows of the cores are rows of the matrix.
    pub are_rows: bool,
}

impl Cores {
    /// Makes those of a matrix of a product with M, N and K, whose elements have so many bytes.
    pub fn of(matrix: Matrix, [m, n, k]: [usize; 3], bytes: u32) -> Cores {
        let is_transposed = m == 8 && n == 32;
        let (rows, columns) = match matrix {
            Matrix::A => (m, k),
            Matrix::B => (n, k),
            Matrix::Sum if is_transposed => (n, m),
            Matrix::Sum => (m, n),
        };
        let each = if matrix == Matrix::Sum { 2 } else { (4 / bytes).max(1) };
        let wide = 4 * each;
        let (rows, columns) = (rows as u32, columns as u32);
        // Two cores of rows, or all of a sum's, come before the next of columns, except for the right factor.
        let is_right = match matrix {
            Matrix::A => is_transposed,
            Matrix::B => !is_transposed,
            Matrix::Sum => false,
        };
        let together = match matrix {
            Matrix::Sum => rows,
            _ if is_right => 8,
            _ => rows.min(16),
        };
        let mut starts = Vec::new();
        for first in (0..rows).step_by(together as usize) {
            for column in (0..columns).step_by(wide as usize) {
                starts.extend((first..first + together).step_by(8).map(|row| (row, column)));
            }
        }
        let are_rows = match matrix {
            Matrix::A => true,
            Matrix::B => false,
            Matrix::Sum => !is_transposed,
        };
        Cores { starts, each, are_rows }
    }

    /// Returns row and column, in the matrix, of an element of a core that a lane has.
    pub fn place(&self, core: usize, element: u32, lane: u32) -> (usize, usize) {
        let (row, column) = self.starts[core];
        let at = (row + lane / 4, column + self.each * (lane % 4) + element);
        let (row, column) = (at.0 as usize, at.1 as usize);
        if self.are_rows { (row, column) } else { (column, row) }
    }
}

/// Returns the accesses that move a fragment of elements of so many bytes. `access` has the space and where the address is, `value` is
/// a row for what passes through. Rows of the cores are dense in memory or their columns are.
pub(crate) fn moves(
    cores: &Cores,
    fragment: &[Register],
    (access, value): (&Access, Register),
    (bytes, is_dense, loads_factor): (u32, bool, bool),
) -> Vec<FragmentMove> {
    let with = |bytes: u32, rows: &[Register]| Access {
        bytes,
        rows: rows.iter().map(|row| Some(*row)).collect(),
        ..access.clone()
    };
    let by_matrix = loads_factor && access.space == Space::Shared;
    if by_matrix && (bytes == 2 || bytes == 1 && is_dense) {
        let all = cores.starts.chunks(4).zip(fragment.chunks(4));
        return all
            .map(|(starts, rows)| FragmentMove {
                access: with(4, &rows[..starts.len()]),
                cores: starts.to_vec(),
                how: How::Matrices { transpose: !is_dense },
            })
            .collect();
    }
    let mut moves = Vec::new();
    let per_core = if bytes >= 4 { cores.each as usize } else { 1 };
    for (start, rows) in cores.starts.iter().zip(fragment.chunks(per_core)) {
        let mut add = |access, how| {
            moves.push(FragmentMove { access, cores: vec![*start], how });
        };
        match bytes {
            1 if !is_dense => {
                for index in 0..cores.each {
                    add(with(1, &[value]), How::Byte { index, into: rows[0] });
                }
            }
            2 if !is_dense => add(with(4, &[value]), How::Transposed { of: rows[0] }),
            4.. if !is_dense => {
                for (first, row) in rows.iter().enumerate() {
                    add(with(bytes, &[*row]), How::Neighbours { first: first as u32 });
                }
            }
            _ => add(with(bytes.max(4), rows), How::Neighbours { first: 0 }),
        }
    }
    moves
}

impl FragmentMove {
    /// Returns row and column of the cores at which a lane begins.
    pub fn start(&self, each: u32, lane: u32) -> (u32, u32) {
        let (group, place) = (lane / 4, lane % 4);
        let core = |index: usize| self.cores[index.min(self.cores.len() - 1)];
        let (row, column) = core(0);
        match self.how {
            How::Neighbours { first } => (row + group, column + each * place + first),
            How::Byte { index, .. } => (row + group, column + each * place + index),
            How::Transposed { .. } => (row + 2 * place, column + group),
            How::Matrices { transpose } => {
                let (row, column) = core(lane as usize / 8);
                if transpose { (row, column + lane % 8) } else { (row + lane % 8, column) }
            }
        }
    }
}

/// Transposes the halves of a core: of each lane's word, the two at `place` in row `group` and those beside them.
pub(crate) fn transposed(words: [u32; 32]) -> [u32; 32] {
    std::array::from_fn(|lane| {
        let half = |element: usize| {
            let (row, column) = (lane % 4 * 2 + element, lane / 4);
            words[row * 4 + column / 2] >> (column % 2 * 16) & 0xffff
        };
        half(0) | half(1) << 16
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_those_of_the_machine_code() {
        let starts = |matrix, shape, bytes| Cores::of(matrix, shape, bytes).starts;
        let square = [16, 16, 16];
        let left = [(0, 0), (8, 0), (0, 8), (8, 8)];
        assert_eq!(starts(Matrix::A, square, 2), left);
        assert_eq!(starts(Matrix::B, square, 2), [(0, 0), (0, 8), (8, 0), (8, 8)]);
        assert_eq!(starts(Matrix::Sum, square, 4), left);
        assert_eq!(starts(Matrix::A, square, 1), [(0, 0), (8, 0)]);
        assert_eq!(starts(Matrix::B, [32, 8, 16], 2), [(0, 0), (0, 8)]);
        let tall = [(0, 0), (8, 0), (0, 8), (8, 8), (16, 0), (24, 0), (16, 8), (24, 8)];
        assert_eq!(starts(Matrix::A, [32, 8, 16], 2), tall);
        assert_eq!(starts(Matrix::B, [8, 32, 16], 2), tall);
        assert_eq!(starts(Matrix::A, [8, 32, 16], 2), [(0, 0), (0, 8)]);
        assert_eq!(starts(Matrix::Sum, [8, 32, 16], 4), [(0, 0), (8, 0), (16, 0), (24, 0)]);
        let cores = Cores::of(Matrix::Sum, [8, 32, 16], 4);
        assert_eq!(cores.place(1, 1, 6), (5, 9), "the sum is transposed");
        assert_eq!(Cores::of(Matrix::A, [8, 8, 4], 8).place(0, 0, 6), (1, 2));
    }

    #[test]
    fn halves_transposed_twice_are_as_before() {
        let words = std::array::from_fn(|lane| (lane as u32 * 2) | (lane as u32 * 2 + 1) << 16);
        let turned = transposed(words);
        // Row 1 begins with the second halves of the first column.
        assert_eq!(turned[0], 8 << 16);
        assert_eq!(turned[4], 1 | 9 << 16);
        assert_eq!(transposed(turned), words);
    }
}
