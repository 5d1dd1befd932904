use crate::compute::{ComputeFunction, Operands};
use crate::image::ImageOperation;
pub(crate) use crate::register::Register;
use ptx::Type;
pub(crate) use races::{Scope, Semantics};

/// The state spaces an access can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    Generic,
    Global,
    Shared,
    /// Per-lane memory, which also holds the parameters of device functions.
    Local,
    Constant,
    Parameter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Long(u32),
    Word(u32),
    /// The offset alone is the address.
    Absolute,
}

impl Base {
    pub fn register(self) -> Option<Register> {
        match self {
            Base::Long(index) => Some(Register::Long(index)),
            Base::Word(index) => Some(Register::Word(index)),
            Base::Absolute => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub space: Space,
    pub base: Base,
    pub offset: i64,
    /// Bytes of one element.
    pub bytes: u32,
    pub signed: bool,
    /// One row per element; `None` for a sink.
    pub rows: Vec<Option<Register>>,
    /// `volatile`, or an ordered access: other threads may change or await the value.
    pub strong: bool,
    /// L1 does not keep it: it is strong, or its cache operator says so.
    pub past_l1: bool,
    pub semantics: Semantics,
    /// `ld.global.nc`: the data must not change during the launch.
    pub read_only: bool,
    /// A parameter or a result of a call, which lies in local memory here and in registers on a GPU.
    pub of_call: bool,
}

impl Access {
    /// Bytes of the whole access of one lane.
    pub fn total_bytes(&self) -> u32 {
        self.bytes * self.rows.len() as u32
    }

    /// Bytes up to the last element that goes to a register; of an access without one, all.
    pub fn used_bytes(&self) -> u32 {
        let last = self.rows.iter().rposition(Option::is_some);
        last.map_or(self.total_bytes(), |last| self.bytes * (last as u32 + 1))
    }
}

/// The read-modify-write of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicOperation {
    Add,
    Increment,
    Decrement,
    Minimum,
    Maximum,
    And,
    Or,
    Xor,
    Exchange,
    CompareSwap,
}

/// `atom` or `red`.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub space: Space,
    pub base: Base,
    pub offset: i64,
    pub operation: AtomicOperation,
    pub t: Type,
    pub destination: Option<Register>,
    pub source: Register,
    /// The value to swap in, for compare-and-swap.
    pub second: Option<Register>,
    /// Written as `red`, or with an unused result.
    pub is_reduction: bool,
    /// Adds the constant one to `u32` without a result, which hardware does in one pass for any
    /// number of lanes.
    pub counts_by_one: bool,
    pub semantics: Semantics,
    /// Written as `atom`: it observes what it replaces, also when nobody reads the result.
    pub observes: bool,
    /// Elements of a vector reduction beyond the first.
    pub more_sources: Vec<Register>,
    pub more_destinations: Vec<Register>,
}

/// The rule by which `shfl` picks its source lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VoteMode {
    All,
    Any,
    Uniform,
    Ballot,
}

/// Reductions over a warp or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReduceMode {
    Add,
    Minimum,
    Maximum,
    And,
    Or,
    Xor,
    Count,
}

/// The effect of a `bar` or `barrier` besides waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierKind {
    Synchronize,
    Arrive,
    /// Reduces a predicate over the block into `row`.
    Reduce {
        mode: ReduceMode,
        predicate: u32,
        negated: bool,
        result: Register,
    },
}

/// Registers of a warp-level instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WarpOperands {
    pub destination: Option<Register>,
    pub predicate: Option<u32>,
    pub a: Register,
    pub b: u32,
    pub c: u32,
    /// The membermask, a word.
    pub members: u32,
}

/// Timers a kernel can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Cycles,
    GlobalTime,
}

/// A copy that lands later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsyncCopy {
    pub target: (Base, i64),
    pub source: (Base, i64),
    pub bytes: u32,
    /// A word that holds how many bytes to read; the rest is zero.
    pub source_bytes: Option<u32>,
    /// A predicate that makes the whole source ignored.
    pub ignore_source: Option<u32>,
    /// True when it goes past L1 (`.cg`).
    pub bypasses_l1: bool,
}

impl AsyncCopy {
    /// Bytes that land at a time.
    pub const STEP: u32 = 4;

    /// Returns how often each of its passes through shared memory is taken: one past L1 whose number of bytes is only known when
    /// it runs takes them twice.
    pub fn wavefronts_each(&self) -> u32 {
        if self.bypasses_l1 && self.source_bytes.is_some() { 2 } else { 1 }
    }
}

/// Operations on an mbarrier object; `target` is its shared address.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MbarrierOperation {
    Initialize {
        count: u32,
    },
    Invalidate,
    /// `drop` lowers the expected count, `expect` adds transaction bytes first.
    Arrive {
        state: Option<u32>,
        count: Option<u32>,
        drop: bool,
        expect: Option<u32>,
        semantics: Semantics,
    },
    ExpectTransaction {
        bytes: u32,
    },
    CompleteTransaction {
        bytes: u32,
    },
    Test {
        /// True when the lanes may sleep for a time: `try_wait`, not `test_wait`.
        sleeps: bool,
        result: u32,
        state: Option<u32>,
        parity: Option<u32>,
        semantics: Semantics,
    },
    /// The arrival of `cp.async.mbarrier.arrive`, when the lane's copies have landed.
    AsyncArrive {
        no_increment: bool,
    },
    PendingCount {
        result: u32,
        state: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BulkDirection {
    GlobalToShared,
    SharedToGlobal,
    SharedToShared,
}

/// `cp.async.bulk` and `cp.reduce.async.bulk`, one-dimensional.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BulkCopy {
    pub direction: BulkDirection,
    pub target: (Base, i64),
    pub source: (Base, i64),
    pub bytes: u32,
    pub mbarrier: Option<(Base, i64)>,
    pub reduce: Option<(AtomicOperation, Type)>,
    /// The row of the mask of the blocks of the cluster where it lands; without one, where its target is.
    pub multicast: Option<u32>,
}

impl BulkCopy {
    /// Bytes that land at a time: one element of a reduction.
    pub fn step(&self) -> u32 {
        self.reduce.map_or(8, |(_, t)| t.bytes())
    }
}

/// `cp.async.bulk.tensor`: the box of a tensor map at some coordinates.
#[derive(Clone, Debug)]
pub(crate) struct TensorCopy {
    /// To shared or to global memory.
    pub direction: BulkDirection,
    pub shared: (Base, i64),
    /// The row of the address of the map.
    pub map: u32,
    /// The row of each coordinate.
    pub coordinates: Vec<u32>,
    /// In im2col mode, the row of each offset of pixels.
    pub offsets: Option<Vec<u32>>,
    pub mbarrier: Option<(Base, i64)>,
    /// As in [`BulkCopy`].
    pub multicast: Option<u32>,
}

/// `st.async` and `red.async`: a store into shared memory of the cluster that counts its bytes at an mbarrier there.
#[derive(Clone, Debug)]
pub(crate) struct AsyncStore {
    pub target: (Base, i64),
    pub values: Vec<Register>,
    /// Bytes of each value.
    pub bytes: u32,
    pub mbarrier: (Base, i64),
    pub reduce: Option<(AtomicOperation, Type)>,
}

#[derive(Clone, Debug)]
pub(crate) enum Factor {
    /// In shared memory, as the descriptor in this row says; transposed: neighbouring elements lie along M or N.
    Shared { descriptor: u32, transposed: bool },
    /// In the registers of the lanes, as in `mma.sync`.
    Registers(Vec<Register>),
}

/// `wgmma.mma_async`: 64 x N results of four warps.
#[derive(Clone, Debug)]
pub(crate) struct Wgmma {
    /// The part of one warp.
    pub part: Mma,
    pub a: Factor,
    pub b: Factor,
    /// The predicate under which the old D is added.
    pub adds: u32,
    /// True when each factor is negated.
    pub negate: [bool; 2],
}

/// One access of a warp that moves a part of a fragment.
#[derive(Clone, Debug)]
pub(crate) struct FragmentMove {
    pub access: Access,
    /// The first row and column of each core that it reaches.
    pub cores: Vec<(u32, u32)>,
    pub how: How,
}

/// The places that the lanes of such an access reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Its neighbours, from one on: in a register of their own.
    Neighbours { first: u32 },
    /// One byte of its neighbours, which has its place in this register.
    Byte { index: u32, into: Register },
    /// Halves as they lie in memory, which become those of this register.
    Transposed { of: Register },
    /// Rows of 16 bytes, by `ldmatrix`.
    Matrices { transpose: bool },
}

/// `wmma.load` and `wmma.store`: a matrix between memory and the lanes' fragments.
#[derive(Clone, Debug)]
pub(crate) struct WmmaMove {
    pub loads: bool,
    /// Its accesses; the address is in the next row, and what passes through in the one behind it.
    pub moves: Vec<FragmentMove>,
    pub place: u32,
    pub value: Register,
    /// Neighbours that a lane has of each core.
    pub each: u32,
    pub bytes: u32,
    pub from: (Base, i64),
    /// The row of how many elements one row (column) is from the next; dense without it.
    pub stride: Option<u32>,
    /// Elements of a row (column) that is dense.
    pub dense: u32,
    /// The rows of the cores are dense in memory.
    pub is_dense: bool,
    /// Registers that have what another one has, too.
    pub copies: Vec<(Register, Register)>,
}

/// `mma.sync`: D = A x B + C, where A has `m` rows and `k` columns, and B `k` rows and `n` columns.
#[derive(Clone, Debug)]
pub(crate) struct Mma {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a_type: Type,
    pub b_type: Type,
    /// Of C and D.
    pub c_type: Type,
    /// Integers clamp: `.satfinite`.
    pub saturate: bool,
    /// The registers of each fragment.
    pub a: Vec<Register>,
    pub b: Vec<Register>,
    pub c: Vec<Register>,
    pub d: Vec<Register>,
}

impl Mma {
    /// Elements in a register of A or B.
    pub fn per_register(&self) -> usize {
        4_usize.div_ceil(self.a_type.bytes() as usize)
    }

    /// Elements in a register of C or D.
    pub fn per_accumulator(&self) -> usize {
        4_usize.div_ceil(self.c_type.bytes() as usize)
    }
}

/// A product of 16 x K by K x 8 whose rows and columns have scales along K.
#[derive(Clone, Debug)]
pub(crate) struct BlockScaled {
    pub k: usize,
    /// Scales of a row, each for as many elements.
    pub scales: usize,
    pub a_format: &'static str,
    pub b_format: &'static str,
    /// Scales are `ue4m3`, and not exponents alone.
    pub has_fractions: bool,
    /// The registers of each fragment.
    pub a: Vec<Register>,
    pub b: Vec<Register>,
    pub c: Vec<Register>,
    pub d: Vec<Register>,
    pub of_a: ScaleSelector,
    pub of_b: ScaleSelector,
}

/// The scales of a matrix: the first byte of a register, and the lanes of four that have them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScaleSelector {
    pub scales: Register,
    pub selected: [Register; 2],
}

impl BlockScaled {
    /// Elements in a register of A or B.
    pub fn per_register(&self) -> usize {
        self.k / 8
    }
}

/// Functions that the driver provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// `vprintf(format, arguments)`.
    Print,
    /// `__assertfail(message, file, line, function, charsize)`.
    AssertFail,
    /// `malloc(bytes)`, which takes from the device's heap, or returns null where it has no room.
    Allocate,
    /// `free(pointer)`.
    Free,
    /// `cudaGetParameterBuffer(kernel, grid, block, shared bytes)`: memory for the arguments of a launch.
    ParameterBuffer,
    /// `cudaLaunchDevice(buffer, stream)`.
    LaunchKernel,
    /// `cudaStreamCreateWithFlags(stream, flags)` of the runtime for devices.
    CreateStream,
    /// `cudaMemcpyAsync(target, source, bytes, kind, stream)` of that.
    EnqueueCopy,
    /// `cudaMemsetAsync(target, value, bytes, stream)` of that.
    EnqueueFill,
    /// `cudaGetDevice(number)` of that.
    CurrentDevice,
    /// `cudaGetDeviceCount(count)` of that.
    DeviceCount,
    /// `cudaDeviceGetAttribute(value, attribute, device)` of that.
    DeviceAttribute,
    /// `cudaGetErrorString(code)` and `cudaGetErrorName(code)` of that.
    ErrorText,
    /// `cudaMalloc(address, bytes)` of that.
    AllocateAt,
    /// `cudaFree(address)` of that.
    FreeAt,
    /// `cudaStreamDestroy(stream)` of that, which has nothing to do.
    DestroyStream,
    /// `cudaGetLastError()` of that.
    LastError,
    /// `cudaPeekAtLastError()` of that.
    PeekError,
    /// `cudaGraphSetConditional(handle, value)`, whose handle is the address of the condition.
    SetCondition,
}

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Compute {
        function: ComputeFunction,
        operands: Operands,
    },
    Branch {
        target: u32,
    },
    BranchTable {
        table: u32,
        index: u32,
    },
    Call {
        target: u32,
    },
    Builtin {
        which: Builtin,
        parameters: Vec<u32>,
        result: Option<u32>,
    },
    /// Lanes call an address that is that of no function.
    LostCall {
        address: u32,
    },
    Return,
    Exit,
    Trap,
    Load(Box<Access>),
    Store(Box<Access>),
    Atomic(Box<Atomic>),
    /// Copies bytes of per-lane memory: parameters of a call.
    CopyLocal {
        from: u32,
        to: u32,
        bytes: u32,
    },
    /// A call that may come back into its caller puts the caller's registers and local bytes aside.
    SaveFrame {
        frame: u32,
    },
    /// Takes so many bytes, which are in a row, from the lanes' stacks, of which another row has what they use.
    Alloca {
        destination: Register,
        bytes: u32,
        alignment: u32,
        stack: u32,
    },
    /// The lanes that came back from such a call have them again.
    RestoreFrame {
        frame: u32,
    },
    Barrier {
        id: u32,
        count: Option<u32>,
        kind: BarrierKind,
        aligned: bool,
    },
    WarpBarrier {
        members: u32,
    },
    Shuffle {
        mode: ShuffleMode,
        operands: Box<WarpOperands>,
    },
    Vote {
        mode: VoteMode,
        operands: Box<WarpOperands>,
    },
    Match {
        all: bool,
        operands: Box<WarpOperands>,
    },
    Reduce {
        mode: ReduceMode,
        signed: bool,
        operands: Box<WarpOperands>,
    },
    Elect {
        operands: Box<WarpOperands>,
    },
    ActiveMask {
        destination: u32,
    },
    Fence {
        proxy: bool,
        semantics: Semantics,
    },
    ReadClock {
        clock: Clock,
        destination: Register,
    },
    IsSpace {
        destination: u32,
        address: Register,
        space: Space,
    },
    AsyncCopy(Box<AsyncCopy>),
    AsyncCommit,
    AsyncWait {
        pending: u32,
    },
    Mbarrier {
        target: (Base, i64),
        operation: Box<MbarrierOperation>,
    },
    BulkCopy(Box<BulkCopy>),
    BulkCommit,
    BulkWait {
        /// Groups that may still be under way.
        pending: u32,
        /// Only that their source was read.
        reads: bool,
    },
    LoadMatrix {
        access: Box<Access>,
        transpose: bool,
    },
    StoreMatrix {
        access: Box<Access>,
        transpose: bool,
    },
    Mma(Box<Mma>),
    BlockScaled(Box<BlockScaled>),
    Image(Box<ImageOperation>),
    Wgmma(Box<Wgmma>),
    WgmmaFence,
    WgmmaCommit,
    WgmmaWait {
        /// Groups that may still be under way.
        pending: u32,
    },
    Wmma(Box<Mma>),
    WmmaMove(Box<WmmaMove>),
    TensorCopy(Box<TensorCopy>),
    AsyncStore(Box<AsyncStore>),
    /// Hints without an effect on results.
    Nothing,
    /// `nanosleep`: others get a turn where threads wait by polling memory.
    Sleep {
        nanoseconds: Register,
    },
    /// Arrival at the barrier of a cluster, or waiting there.
    ClusterBarrier {
        arrives: bool,
        /// Hands on nothing: `.relaxed`.
        relaxed: bool,
    },
}
