use crate::prelude::*;
use coalesce::hierarchy::{Measure, MemorySpace};
use cuda_std::texture::Texture;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use cust_ext::texture as images;
use kernels::caches::memory_hierarchy::{
    self as device, ACCESSES_PER_LOAD, CONSTANT_WORDS, L1_WORDS, LINE_WORDS, LOADS_IN_FLIGHT,
    SHARED_WORDS, THREADS_PER_BLOCK,
};
use rayon::prelude::*;

/// Words of the data in the curve: 8 KB to 1 GiB.
const WORDS: &[usize] = &[
    1 << 11,
    1 << 13,
    1 << 14,
    1 << 15,
    1 << 16,
    1 << 17,
    1 << 18,
    1 << 20,
    1 << 21,
    1 << 22,
    3 << 21,
    1 << 23,
    3 << 22,
    1 << 24,
    1 << 25,
    1 << 26,
    1 << 28,
];

pub const PATTERN: Pattern = Pattern {
    name: "memory_hierarchy",
    group: "caches",
    doc_source: include_str!("../../../../kernels/src/caches/memory_hierarchy.rs"),
    dimensions: &[
        Dimension::extent("words", "words of data", 1),
        Dimension::amount("accesses", "steps of a chain, and 256 for each load of a reader", 1)
            .predicted_at(1 << 16),
        Dimension::amount("blocks", "blocks that read, or bring data into L2", 1).predicted_at(264),
    ],
    verify_sizes: &[
        &[1, 1, 1],
        &[31, 1024, 2],
        &[32, 1024, 1],
        &[33, 1024, 3],
        &[2048, 1024, 2],
        &[8193, 2048, 2],
        &[100_003, 1024, 2],
    ],
    bench_size: &[1 << 11, 1 << 16, 264],
    count_size: &[1 << 11, 1 << 10, 4],
    sweeps: &[Sweep { dimension: 0, values: WORDS, variants: &[0, 6] }],
    case,
    bytes,
    minimum_time: |_, _| None,
    variants: &[
        variant!(device::memory_hierarchy_chase_global => chase_global)
            .writing(&[END, BLOCK_SUMS])
            .expecting(|size| {
                Expectation::sectors(
                    chain_sectors(size),
                    (32.0 * 4.0 + 1.0) / 33.0,
                    "each step 1 sector; the block's reading before it, and its sums, 4",
                )
            }),
        variant!(device::memory_hierarchy_chase_l2 => chase_l2)
            .expecting(|_| Expectation::sectors(1.0, 1.0, "one thread: 1 sector per step")),
        variant!(device::memory_hierarchy_chase_shared => chase_shared)
            .only_when(fits_shared_memory)
            .expecting(|_| {
                Expectation::sectors(
                    4.0,
                    1.0,
                    "a coalesced copy to shared memory, then 1 word per step",
                )
                .shared(1.0, 1.0)
            }),
        variant!(device::memory_hierarchy_chase_constant => chase_constant)
            .only_when(is_the_constant_chain)
            .prepared(|with| {
                let chain = chain(CONSTANT_WORDS as usize);
                let chain = chain.as_slice().try_into().expect("whole vectors of four words");
                Ok(with.launcher.write::<device::MEMORY_HIERARCHY_CHAIN>(chain)?)
            })
            .expecting(|_| Expectation {
                store_sectors: Some(1.0),
                constant_wavefronts: Some(1.0),
                arithmetic: "one thread: 1 wavefront of the constant cache per step",
                ..Expectation::default()
            }),
        variant!(device::memory_hierarchy_chase_texture => chase_texture)
            .only_when(fits_texture)
            .prepared(|with| {
                with.arrays.keep_texture("chain", || {
                    let chain = u32::view(&with.case.inputs[0]).expect("the case holds u32");
                    Ok(images::Texture::owning_buffer(DeviceBuffer::from_slice(chain)?, false)?)
                })
            })
            .expecting(|_| Expectation {
                store_sectors: Some(1.0),
                texture_sectors: Some(1.0),
                arithmetic: "one thread: 1 sector per step",
                ..Expectation::default()
            }),
        Variant::host("chase_host", |_, case, size| Ok(Box::new(ChaseHost::new(case, size)?))),
        variant!(device::memory_hierarchy_read_global, read)
            .writing(&[SUMS])
            .expecting(|_| Expectation::sectors(16.0, 4.0, "32 lanes x 16 B / 32 B = 16 sectors")),
        variant!(device::memory_hierarchy_read_shared, read)
            .only_when(fits_shared_memory)
            .writing(&[SUMS])
            .expecting(|_| {
                Expectation::sectors(
                    16.0,
                    4.0,
                    "32 lanes x 16 B / 128 B per wavefront = 4 wavefronts, no conflicts",
                )
                .shared(4.0, 4.0)
            }),
    ],
};

/// Steps of a chain at the benchmark's size.
const STEPS: f64 = PATTERN.bench_size[1] as f64;
/// Bytes that `read_global` and `read_shared` read at the benchmark's size.
const BYTES_READ: f64 = PATTERN.bench_size[2] as f64
    * THREADS_PER_BLOCK as f64
    * (PATTERN.bench_size[1] as f64 / ACCESSES_PER_LOAD as f64)
    * 16.0;

/// The time of a step of a chain through so many words.
const fn step(variant: &'static str, size: &'static [(&'static str, usize)]) -> Option<Measure> {
    Some(Measure::Row { pattern: PATTERN.name, variant, size, amount: STEPS })
}

/// The rate at which so many words are read.
const fn rate(variant: &'static str, size: &'static [(&'static str, usize)]) -> Option<Measure> {
    Some(Measure::Row { pattern: PATTERN.name, variant, size, amount: BYTES_READ })
}

/// Data that fit into L1, into L2 only, and into neither.
const IN_L1: &[(&str, usize)] = &[("words", 1 << 11)];
const IN_L2: &[(&str, usize)] = &[("words", 1 << 22)];
const IN_DRAM: &[(&str, usize)] = &[("words", 1 << 28)];

/// Every memory space, with the measurements of this pattern.
pub const MEMORY_SPACES: &[MemorySpace] = &[
    MemorySpace {
        name: "register",
        place: "multiprocessor",
        cached: "nothing",
        access: "read, write",
        scope: "one thread",
        lifetime: "the thread",
        latency: None,
        bandwidth: None,
    },
    MemorySpace {
        name: "shared memory",
        place: "multiprocessor",
        cached: "nothing",
        access: "read, write, atomics",
        scope: "the block, or its cluster",
        lifetime: "the block",
        latency: step("chase_shared", IN_L1),
        bandwidth: rate("read_shared", IN_L1),
    },
    MemorySpace {
        name: "local memory",
        place: "device memory",
        cached: "L1, L2",
        access: "read, write",
        scope: "one thread",
        lifetime: "the thread",
        latency: None,
        bandwidth: None,
    },
    MemorySpace {
        name: "global memory, found in L1",
        place: "multiprocessor",
        cached: "L1",
        access: "read",
        scope: "the block, and others there",
        lifetime: "the kernel, at most",
        latency: step("chase_global", IN_L1),
        bandwidth: rate("read_global", IN_L1),
    },
    MemorySpace {
        name: "global memory, found in L2",
        place: "device",
        cached: "L2",
        access: "read, write, atomics",
        scope: "all threads",
        lifetime: "until displaced",
        latency: step("chase_l2", IN_L1),
        bandwidth: rate("read_global", IN_L2),
    },
    MemorySpace {
        name: "global memory",
        place: "device memory",
        cached: "L1, L2",
        access: "read, write, atomics",
        scope: "all threads, and the host by copies",
        lifetime: "until it is freed",
        latency: step("chase_global", IN_DRAM),
        bandwidth: rate("read_global", IN_DRAM),
    },
    MemorySpace {
        name: "constant memory",
        place: "device memory",
        cached: "constant caches, L2",
        access: "read; the host writes",
        scope: "all threads",
        lifetime: "the program",
        latency: step("chase_constant", IN_L1),
        bandwidth: None,
    },
    MemorySpace {
        name: "texture memory",
        place: "device memory",
        cached: "L1, L2",
        access: "read, with filtering",
        scope: "all threads",
        lifetime: "until it is freed",
        latency: step("chase_texture", IN_L1),
        bandwidth: None,
    },
    MemorySpace {
        name: "host memory, mapped",
        place: "memory of the host",
        cached: "L1 while a kernel runs",
        access: "read, write",
        scope: "all threads, and the host",
        lifetime: "until it is freed",
        latency: step("chase_host", IN_L1),
        bandwidth: Some(Measure::Peak(Resource::HostToDevice)),
    },
];

/// The output with the last word of the chain.
const END: usize = 0;
/// The output with what each thread of the chain's block read.
const BLOCK_SUMS: usize = 1;
/// The output with what each thread of all blocks read.
const SUMS: usize = 2;

fn fits_shared_memory(size: &Size) -> std::result::Result<(), &'static str> {
    let [words, _, _] = size.get();
    let fits = words <= SHARED_WORDS as usize;
    if fits { Ok(()) } else { Err("shared memory is for at most 8192 words here") }
}

fn is_the_constant_chain(size: &Size) -> std::result::Result<(), &'static str> {
    let [words, _, _] = size.get();
    let is_it = words == CONSTANT_WORDS as usize;
    if is_it { Ok(()) } else { Err("the chain in constant memory has 2048 words") }
}

fn fits_texture(size: &Size) -> std::result::Result<(), &'static str> {
    let [words, _, _] = size.get();
    let fits = words <= 1 << 27;
    if fits { Ok(()) } else { Err("a texture of plain memory has at most 2^27 texels") }
}

/// Sectors per load where one block reads whole warps of words before its first thread follows the chain.
fn chain_sectors(size: &Size) -> f64 {
    let [words, accesses, _] = size.get();
    let warps = if words <= L1_WORDS as usize { words.div_ceil(32) } else { 0 };
    (4 * warps + accesses) as f64 / (warps + accesses) as f64
}

/// A chain through one word of each cache line, in a random order that is always the same; it begins at word 0 and
/// ends there. The other words are random numbers.
fn chain(words: usize) -> Vec<u32> {
    let lines = words.div_ceil(LINE_WORDS as usize);
    let mut random = Random::new(7);
    // Filled up to whole vectors of four words.
    let mut chain = random.u32s(words.next_multiple_of(4));
    let keys = random.u32s(lines);
    let mut order: Vec<u32> = (1..lines as u32).collect();
    order.par_sort_unstable_by_key(|line| (keys[*line as usize], *line));
    let mut at = 0;
    for line in order.into_iter().chain([0]) {
        chain[at] = line * LINE_WORDS;
        at = chain[at] as usize;
    }
    chain
}

fn case(size: &Size, _: &mut Random) -> Case {
    let [words, accesses, blocks] = size.get();
    let chain = chain(words);
    let (end, block_sums, sums) = reference(&chain, words, accesses, blocks);
    Case {
        outputs: [vec![end], block_sums, sums].map(|one| Output::exact(Data::U32(one))).to_vec(),
        inputs: vec![Data::U32(chain)],
    }
}

/// The end of the chain; the exclusive or of the words that each thread of a block reads; the same for each thread of
/// all blocks and all vectors that it reads.
fn reference(
    chain: &[u32],
    words: usize,
    accesses: usize,
    blocks: usize,
) -> (u32, Vec<u32>, Vec<u32>) {
    let end = (0..accesses).fold(0, |at: u32, _| chain[at as usize]);
    let threads = THREADS_PER_BLOCK as usize;
    let all = if words <= L1_WORDS as usize { &chain[..words] } else { &[] };
    let xor = |words: &mut dyn Iterator<Item = u32>| words.fold(0, |sum, word| sum ^ word);
    let block_sums =
        (0..threads).map(|tid| xor(&mut all.iter().skip(tid).step_by(threads).copied())).collect();
    let vectors = chain.len() / 4;
    let loads =
        accesses / (ACCESSES_PER_LOAD * LOADS_IN_FLIGHT) as usize * LOADS_IN_FLIGHT as usize;
    let of_vectors: Vec<u32> =
        chain.chunks(4).map(|four| four.iter().fold(0, |sum, word| sum ^ word)).collect();
    let sum = |thread: usize| {
        let first = thread / threads * vectors / blocks + thread % threads;
        xor(&mut (0..loads).map(|load| of_vectors[(first + load * threads) % vectors]))
    };
    let sums = (0..blocks * threads).into_par_iter().map(sum).collect();
    (end, block_sums, sums)
}

/// The bytes that device memory has to deliver at least: the data, once.
fn bytes(size: &Size) -> Bytes {
    let [words, _, _] = size.get();
    Bytes { read: 4 * words, written: 4 }
}

/// The numbers of a size as kernels take them.
fn numbers(size: &Size) -> [u32; 3] {
    size.get().map(|value: usize| value as u32)
}

fn chase_global(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [words, accesses, blocks] = numbers(size);
    let arguments =
        (arrays.input(0), arrays.output(END), arrays.output(BLOCK_SUMS), words, accesses);
    let kernel = device::memory_hierarchy_chase_global;
    // SAFETY: the input holds `words` words and a chain through them; the outputs hold a word, and one per thread.
    unsafe { launcher.launch(kernel, blocks, THREADS_PER_BLOCK, 0, arguments) }
}

fn chase_l2(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [words, accesses, blocks] = numbers(size);
    let arguments = (arrays.input(0), arrays.output(END), words, accesses);
    let kernel = device::memory_hierarchy_chase_l2;
    // SAFETY: as for `chase_global`.
    unsafe { launcher.launch(kernel, blocks, THREADS_PER_BLOCK, 0, arguments) }
}

fn chase_shared(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [words, accesses, _] = numbers(size);
    let arguments = (arrays.input(0), arrays.output(END), words, accesses);
    let kernel = device::memory_hierarchy_chase_shared;
    // SAFETY: as for `chase_global`; the precondition checked that the words fit.
    unsafe { launcher.launch(kernel, 1, THREADS_PER_BLOCK, 0, arguments) }
}

fn chase_constant(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [_, accesses, _] = numbers(size);
    let kernel = device::memory_hierarchy_chase_constant;
    // SAFETY: the output holds a word, and the static holds a chain.
    unsafe { launcher.launch(kernel, 1, LINE_WORDS, 0, (arrays.output(END), accesses)) }
}

fn chase_texture(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [_, accesses, _] = numbers(size);
    let kernel = device::memory_hierarchy_chase_texture;
    // SAFETY: the preparation made a texture of plain u32, which the arrays keep.
    let chain = unsafe { Texture::from_raw(arrays.texture("chain")) };
    // SAFETY: the output holds a word, and the texture a chain.
    unsafe { launcher.launch(kernel, 1, LINE_WORDS, 0, (chain, arrays.output(END), accesses)) }
}

/// Launches a kernel that reads the input in all threads.
fn read(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const u32, *mut u32, u32, u32)>,
) -> Result<(), GpuError> {
    let [words, accesses, blocks] = numbers(size);
    let arguments = (arrays.input(0), arrays.output(SUMS), words.div_ceil(4), accesses);
    // SAFETY: the input holds whole vectors and starts at a multiple of 256 bytes; the output holds a word per thread.
    unsafe { launcher.launch(kernel, blocks, THREADS_PER_BLOCK, 0, arguments) }
}

/// The chain in mapped memory of the host. The buffer of the device is dropped first, which waits for the kernel.
struct ChaseHost {
    end: DeviceBuffer<u32>,
    chain: HostBuffer<u32>,
    words: u32,
    accesses: u32,
}

impl ChaseHost {
    fn new(case: &Case, size: &Size) -> Result<ChaseHost> {
        let [words, accesses, _] = numbers(size);
        let chain = u32::view(&case.inputs[0]).expect("the case holds u32");
        let untouched = u32::from_ne_bytes([POISON; 4]);
        Ok(ChaseHost {
            end: DeviceBuffer::from_slice(&[untouched])?,
            chain: HostBuffer::from_slice(chain, HostFlags::MAPPED)?,
            words,
            accesses,
        })
    }
}

impl HostWork for ChaseHost {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let function = gpu.module().get_function(device::memory_hierarchy_chase_l2.name())?;
        let (stream, end) = (gpu.stream(), self.end.as_device_ptr());
        let (chain, words, accesses) = (self.chain.device_pointer()?, self.words, self.accesses);
        // SAFETY: the kernel has these parameters; one block reads only the chain, which holds `words` words, and
        // writes one word; both live in `self`, which waits for the device when dropped.
        Ok(unsafe {
            cust::launch!(function<<<1, LINE_WORDS, 0, stream>>>(chain, end, words, accesses))
        }?)
    }

    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>> {
        gpu.synchronize()?;
        let mut end = [0_u32];
        self.end.copy_to(&mut end)?;
        Ok(vec![Data::U32(end.to_vec())])
    }
}
