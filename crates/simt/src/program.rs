use crate::decode::contraction::Contraction;
use crate::error::Position;
use crate::operation::{Operation, Register};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    /// The guard predicate's row.
    pub guard: u32,
    /// All ones when the guard is negated.
    pub negate: u32,
    pub operation: Operation,
}

/// The facts of an instruction besides its effect.
#[derive(Clone, Debug)]
pub(crate) struct Detail {
    pub position: Position,
    /// The opcode as written: index into [`Program::texts`].
    pub text: u32,
    /// Index into [`Program::locations`], or `u32::MAX`.
    pub location: u32,
    /// Helper of another instruction: not counted.
    pub synthetic: bool,
    pub approximate: bool,
    /// Rows read and written, for the check of uninitialized registers.
    pub reads: Vec<Register>,
    pub writes: Vec<Register>,
    /// It reads a special register in which the threads of a block differ.
    pub reads_own_place: bool,
}

/// An instruction's place among basic blocks and unrolled loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockPlace {
    /// It is the first of a block, or of a loop that is unrolled.
    pub is_first: bool,
    /// The number of the unrolled loop that it is in, from 1; 0 outside of such loops.
    pub unrolled: u32,
}

/// The value of a constant row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    Value(u64),
    /// A module variable's address plus an offset.
    Symbol {
        name: String,
        offset: i64,
    },
    /// An address in the static shared array that starts at `start`.
    Shared {
        start: u32,
        offset: i64,
    },
    /// Dynamic shared memory starts here, plus an offset.
    DynamicShared {
        offset: i64,
    },
}

/// Bytes of shared memory that cooperative groups rely on for themselves (`memory.h` of CUDA's headers).
pub(crate) const RESERVED_SHARED: u32 = 288;

/// Registers that the executor fills when a warp starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    ThreadIndex(u8),
    BlockSize(u8),
    BlockIndex(u8),
    GridSize(u8),
    Lane,
    Warp,
    WarpCount,
    Multiprocessor,
    MultiprocessorCount,
    GridId,
    LaneMask(LaneMask),
    TotalShared,
    DynamicShared,
    /// First address of the shared memory that is reserved for cooperative groups.
    ReservedShared(u32),
    /// Half of the address of the launch's workspace, through which the blocks of a cooperative launch wait.
    GridWorkspace {
        is_high: bool,
    },
    ClusterIndex(u8),
    ClusterCount(u8),
    PlaceInCluster(u8),
    ClusterSize(u8),
    ClusterRank,
    ClusterBlocks,
    IsExplicitCluster,
}

/// The `%lanemask_` registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LaneMask {
    Equal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// A source position of `.loc`, with file names resolved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProgramLocation {
    pub file: String,
    pub line: u32,
    pub inlined_at: Vec<(String, u32)>,
}

/// The state that a recursive call saves for each lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct SavedFrame {
    pub rows: Vec<Register>,
    /// Offsets in local memory.
    pub bytes: Vec<u32>,
}

/// The numbers that say until when a loop waits for a clock: it goes on until the clock says `compared` + `less` - `more`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockWait {
    pub compared: Register,
    /// Subtracted from the clock before that.
    pub less: Option<Register>,
    /// Added to it.
    pub more: Option<Register>,
}

/// A kernel with everything it calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub name: String,
    pub instructions: Vec<Instruction>,
    pub details: Vec<Detail>,
    pub texts: Vec<String>,
    pub locations: Vec<ProgramLocation>,
    pub words: u32,
    pub longs: u32,
    pub predicates: u32,
    pub constants: Vec<(Register, Constant)>,
    pub specials: Vec<(Register, Special)>,
    pub branch_tables: Vec<Vec<u32>>,
    pub parameter_bytes: u32,
    pub shared_static: u32,
    pub shared_alignment: u32,
    /// Static shared variables: start, bytes and name, ascending.
    pub shared_variables: Vec<(u32, u32, String)>,
    pub local_bytes: u32,
    /// Arrays and parameters of calls in local memory: start and bytes, ascending.
    pub local_variables: Vec<(u32, u32)>,
    /// The result may depend on the order of blocks: atomics that return values or add floats.
    pub order_dependent: bool,
    /// Some instruction is only approximately what hardware computes.
    pub approximate: bool,
    /// Reads a clock, an SM number or another value that hardware does not reproduce.
    pub irreproducible: bool,
    /// The kernels that it may launch, by their addresses, with the bytes of their parameters.
    pub launchable: BTreeMap<u64, (String, u32)>,
    /// It asks for the texts of errors.
    pub wants_error_texts: bool,
    /// It may set a condition of a graph.
    pub sets_conditions: bool,
    /// Names of module variables that the code refers to.
    pub symbols: Vec<String>,
    /// Forms addresses in the shared memory of other blocks.
    pub maps_shared: bool,
    /// Takes memory from the device's heap, or gives it back.
    pub allocates: bool,
    /// Waits for all blocks by `cuda_std::grid::sync`.
    pub grid_barrier: bool,
    /// Waits on other threads by polling memory.
    pub polls: bool,
    /// Accesses that decide whether a loop around them goes on until other threads have written.
    pub decisive: Vec<u32>,
    /// Those of them that wait until another thread writes.
    pub polling: Vec<u32>,
    /// Those of them that are compare-and-swaps which a thread may give up, with the first instruction of their loop.
    pub abandoned: BTreeMap<u32, u32>,
    /// The reads of a clock that a loop waits for, and what it waits for.
    pub clock_waits: Vec<(u32, ClockWait)>,
    /// Atomics of one word by all lanes of a warp that the assembler makes one.
    pub aggregated: Vec<u32>,
    /// The place of each instruction among basic blocks.
    pub places: Vec<BlockPlace>,
    /// A product and a sum that NVIDIA's assembler may fuse.
    pub contraction: Option<Contraction>,
    /// The frames that recursive calls save, by the function that makes them.
    pub saved_frames: Vec<SavedFrame>,
    /// Function of each instruction: start pcs in ascending order with names.
    pub functions: Vec<(u32, String)>,
}

impl Program {
    /// Bytes of a warp's registers.
    pub fn register_bytes(&self) -> u64 {
        128 * u64::from(self.words) + 256 * u64::from(self.longs) + 4 * u64::from(self.predicates)
    }
}
