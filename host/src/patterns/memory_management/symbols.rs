//! # Symbols: statics of the device, which the host writes and reads by name
//!
//! Shows: a symbol is memory whose address has a name, so writing it by name costs what any copy
//! costs; the host writes constant memory in the same way.
//!
//! The surprise is that the price of a name is the host's. `by_name` (52.06 us) asks the driver for
//! both symbols in each run and copies in calls that block the [host]. Here that takes 110 % longer
//! ((`by_name` - `address_kept`) / `address_kept`) than `address_kept` (24.74 us), which does
//! neither; on a host with faster calls it took little longer (`docs/findings.md`). All of what remains
//! is the fixed time of two copies and a [launch].
//!
//! A `static` of a [kernel] crate is a symbol of the compiled module: an array in [global memory] or in
//! [constant memory] that exists as long as the module. A kernel uses it without being given an
//! address. The host asks the driver for address and size (`cuModuleGetGlobal`), and then copies
//! to it and from it as to any buffer of the [device]:
//!
//! ```text
//! by_name       find TABLE, copy, wait | find RESULT ...  launch, find RESULT, copy, wait
//! address_kept  copy, launch, copy, wait                  the stream has its work at once
//! part          copy a quarter, launch, copy, wait
//! constant      copy, launch, copy, wait                  the table is constant memory
//! ```
//!
//! Here the kernel makes n words of the symbol `SYMBOLS_RESULT` from n words of a table, another
//! symbol. Each run writes the table and reads the result.
//!
//! 1. `by_name`. Each run finds both symbols by name and uses copies that block the host, as
//!    `cudaMemcpyToSymbol` and `cudaMemcpyFromSymbol` do. The words come from [pageable memory],
//!    as they do in most programs.
//! 2. `address_kept`. The idea: the address of a symbol does not change while its module is loaded.
//!    Find it once, and then enqueue copies from and to [pinned memory] on the [stream], beside
//!    the launch. It costs pinned buffers, and the host must not touch them until it has waited.
//! 3. `part`. The idea: write only what has changed, here the first quarter of the words; the rest is
//!    still there from the last run. It costs that somebody must know what has changed. For
//!    small tables it gains nothing: a copy has a fixed time.
//! 4. `constant`. The same as `address_kept` with the table in constant memory. The host writes it in
//!    the same way: what is constant is constant during a launch. It costs 64 KiB at most, for all
//!    constants of a module together.
//! 5. `managed`. The idea: let the host use the symbol in place. A static that is declared
//!    `#[address_space(managed)]` (`__managed__` in CUDA C++) is [managed memory]: its name gives an
//!    address that both sides use, and there is no copy to write. It costs page faults: its pages
//!    move to the device when the kernel touches them, and back when the host does, until the driver
//!    notices that they go back and forth all the time. Then it leaves them on the host and lets the
//!    kernel use them over [PCIe].
//! 6. `managed_part`. The host writes a quarter of the managed table. No copy has a fixed time here
//!    that would hide the difference, but the host's own writes are fast.
//!
//! | variant | change from the previous one | lookups | waits of the host | limited by |
//! |---|---|---|---|---|
//! | `by_name` | each run finds the symbols and copies in calls that block | 2 | 2 | calls |
//! | `address_kept` | the symbols are found once, and copies are enqueued on the stream | 0 | 1 | the fixed time of copies |
//! | `part` | only the words that have changed are written, a quarter | 0 | 1 | the fixed time of copies |
//! | `constant` | as `address_kept`, with the table in constant memory | 0 | 1 | the fixed time of copies |
//! | `managed` | the symbols are managed memory, which the host uses in place | 0 | 1 | the launch and the wait |
//! | `managed_part` | as `managed`, and the host writes a quarter of the words | 0 | 1 | the launch and the wait |
//!
//! Expected: the words take 4 n / 55 x 10^9 seconds in each direction, which is nothing for 4096
//! words. What counts are the fixed times: of a lookup, of a blocking copy that the host waits for, of
//! a copy on a stream, of a launch. So `part` (23.74 us) and `constant` (24.64 us) take about as long as
//! `address_kept`. A page fault takes tens of microseconds, and `managed` (23.49 us) would have one for
//! the table and one for the result on each side. But the pages stay on the host, as above. So it
//! takes a launch, a wait and 32 KiB over PCIe, and has no fixed time of copies. So does
//! `managed_part` (22.62 us). On the virtual device pages that go to and fro stay on the host, too.
//!
//! Common misconception: "constant memory cannot be written". Kernels cannot write it. The host can,
//! between two launches, by name.
//!
//! Common misconception: "a symbol is faster than a pointer argument". It is the same memory. What a
//! symbol saves is the argument, and for constant memory the load instruction (`constant_memory`
//! shows that).
//!
//! Common misconception: "managed memory saves the copy". It saves the line of code. The bytes cross
//! PCIe all the same: as pages that move, or with each access of the kernel.
//!
//! Questions:
//! - What happens if the host writes more words than the symbol has? The driver knows the size of the
//!   symbol, but a plain copy does not ask. Here `symbol` returns a slice of that size, and a copy of
//!   another length is an error that names the symbol and both lengths.
//! - When is the first value of a symbol set? When the module is loaded; here they are zeros. Who loads
//!   the module twice has two of each.
//! - Why not a symbol for every array? Its size is fixed when the kernels are compiled, and it takes
//!   memory as long as the module is loaded.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, us | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `by_name` | 52.06 | 1 |  | 1.00 |
//! | `address_kept` | 24.74 | 1 |  | 2.10 |
//! | `part` | 23.74 | 1 |  | 2.19 |
//! | `constant` | 24.64 | 1 |  | 2.11 |
//! | `managed` | 23.49 | 1 |  | 2.22 |
//! | `managed_part` | 22.62 | 1 |  | 2.30 |
//! <!-- /measured -->
//!
//! Preconditions: at most 4096 words, the size of the symbols.
//!
//! Source: CUDA C++ Programming Guide, "Device Memory", `cudaMemcpyToSymbol`, "Unified Memory",
//! `__managed__`; CUDA Driver API, `cuModuleGetGlobal`.
#![doc = include_str!("../../../../crates/report/src/links.md")]

use crate::cases::copy::bytes;
use crate::prelude::*;
use cust::memory::{AsyncCopyDestination, DevicePointer, DeviceSlice};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use cust_ext::symbol::{SymbolSlice, symbol};
use kernels::memory_management::symbols::{
    THREADS_PER_BLOCK, WORDS, result, symbols_apply, symbols_apply_constant, symbols_apply_managed,
};

pub const PATTERN: Pattern = Pattern {
    name: "symbols",
    group: "memory_management",
    doc_source: include_str!("symbols.rs"),
    dimensions: &[Dimension::extent("words", "words of the symbols that are used", 1)],
    verify_sizes: &[&[1], &[2], &[31], &[32], &[33], &[255], &[256], &[1001], &[WORDS]],
    bench_size: &[WORDS],
    count_size: &[WORDS],
    sweeps: &[Sweep { dimension: 0, values: &[1, 16, 256, 4096], variants: &[0, 1, 2, 3, 4] }],
    case,
    bytes,
    minimum_time: |_, _| None,
    variants: &[
        variant!("by_name", build, Way::ByName).only_when(fits),
        variant!("address_kept", build, Way::AddressKept).only_when(fits),
        variant!("part", build, Way::Part).only_when(fits),
        variant!("constant", build, Way::Constant).only_when(fits),
        variant!("managed", build, Way::Managed).only_when(fits),
        variant!("managed_part", build, Way::ManagedPart).only_when(fits),
    ],
};

fn fits(size: &Size) -> std::result::Result<(), &'static str> {
    let [words] = size.get();
    if words <= WORDS { Ok(()) } else { Err("the symbols have 4096 words") }
}

fn case(size: &Size, random: &mut Random) -> Case {
    let [words] = size.get();
    let table = random.u32s(words);
    Case::exact(vec![Data::U32(reference(&table))], vec![Data::U32(table)])
}

fn reference(table: &[u32]) -> Vec<u32> {
    table.iter().zip(0..).map(|(word, i)| result(*word, i)).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    ByName,
    AddressKept,
    Part,
    Constant,
    Managed,
    ManagedPart,
}

impl Way {
    fn table(self) -> &'static str {
        match self {
            Way::ByName | Way::AddressKept | Way::Part => "SYMBOLS_TABLE",
            Way::Constant => "SYMBOLS_CONSTANT_TABLE",
            Way::Managed | Way::ManagedPart => "SYMBOLS_MANAGED_TABLE",
        }
    }

    fn result(self) -> &'static str {
        if self.is_managed() { "SYMBOLS_MANAGED_RESULT" } else { RESULT }
    }

    fn kernel(self) -> &'static str {
        match self {
            Way::ByName | Way::AddressKept | Way::Part => symbols_apply.name(),
            Way::Constant => symbols_apply_constant.name(),
            Way::Managed | Way::ManagedPart => symbols_apply_managed.name(),
        }
    }

    fn is_managed(self) -> bool {
        matches!(self, Way::Managed | Way::ManagedPart)
    }

    /// Returns whether a run writes only the first quarter of the words.
    fn writes_part(self) -> bool {
        matches!(self, Way::Part | Way::ManagedPart)
    }
}

const RESULT: &str = "SYMBOLS_RESULT";

/// A table of the host and what becomes of it, with the first words of the two symbols.
struct Symbols {
    source: HostBuffer<u32>,
    target: HostBuffer<u32>,
    table: DevicePointer<u32>,
    result: DevicePointer<u32>,
    way: Way,
}

fn build(gpu: &Gpu, case: &Case, _: &Size, way: Way) -> Result<Box<dyn HostWork>> {
    let words = u32::view(&case.inputs[0]).expect("the case holds u32");
    let poison = [u32::from_ne_bytes([POISON; 4]); WORDS];
    let mut table = words_of(gpu, way.table())?;
    let mut result = words_of(gpu, way.result())?;
    let mut all = poison;
    if way.writes_part() {
        // What no run writes anew.
        all[..words.len()].copy_from_slice(words);
        all[..words.len().div_ceil(4)].fill(poison[0]);
    }
    table.upload(&all)?;
    result.upload(&poison)?;
    Ok(Box::new(Symbols {
        source: HostBuffer::from_slice(words, HostFlags::PINNED)?,
        target: HostBuffer::from_slice(&poison[..words.len()], HostFlags::PINNED)?,
        table: table.as_device_slice().as_device_ptr(),
        result: result.as_device_slice().as_device_ptr(),
        way,
    }))
}

/// A static of the kernels, which all hold words here.
fn words_of<'a>(gpu: &'a Gpu, name: &str) -> Result<SymbolSlice<'a, u32>> {
    // SAFETY: the statics of this pattern are arrays of u32.
    Ok(unsafe { symbol(gpu.module(), name) }?)
}

impl Symbols {
    /// The first words of a symbol.
    ///
    /// # Safety
    /// - `first` is the address of a symbol of at least so many words.
    /// - The symbol's module is loaded.
    unsafe fn words(first: DevicePointer<u32>, words: usize) -> DeviceSlice<u32> {
        // SAFETY: the caller's contract.
        unsafe { DeviceSlice::from_raw_parts(first, words) }
    }

    fn launch(&self, gpu: &Gpu) -> Result<()> {
        let function = gpu.module().get_function(self.way.kernel())?;
        let (stream, n) = (gpu.stream(), self.source.len() as u32);
        let grid = n.div_ceil(THREADS_PER_BLOCK);
        // SAFETY: a thread per word, at most `WORDS`; this stream alone uses the symbols.
        Ok(unsafe { cust::launch!(function<<<grid, THREADS_PER_BLOCK, 0, stream>>>(n)) }?)
    }

    fn by_name(&mut self, gpu: &Gpu) -> Result<()> {
        let mut words = vec![0; WORDS];
        words[..self.source.len()].copy_from_slice(&self.source);
        words_of(gpu, self.way.table())?.upload(&words)?;
        // A copy from pageable memory may return before it has arrived, and the stream does not wait for it.
        gpu.synchronize()?;
        self.launch(gpu)?;
        gpu.synchronize()?;
        words_of(gpu, RESULT)?.download(&mut words)?;
        let used = self.target.len();
        self.target.copy_from_slice(&words[..used]);
        Ok(())
    }

    fn in_place(&mut self, gpu: &Gpu, written: usize) -> Result<()> {
        let mut table = words_of(gpu, self.way.table())?;
        // SAFETY: no kernel runs, and this slice of the symbol is the only one.
        let words = unsafe { table.as_host_slice_mut() }?;
        words[..written].copy_from_slice(&self.source[..written]);
        gpu.host_has_written(&words[..written]);
        self.launch(gpu)?;
        gpu.synchronize()?;
        let mut result = words_of(gpu, self.way.result())?;
        // SAFETY: the kernel has ended, and this slice of the symbol is the only one.
        let words = unsafe { result.as_host_slice_mut() }?;
        let used = self.target.len();
        self.target.copy_from_slice(&words[..used]);
        gpu.host_has_read(&words[..used]);
        Ok(())
    }

    fn by_address(&mut self, gpu: &Gpu, written: usize) -> Result<()> {
        // SAFETY: both symbols have `WORDS` words, of which `fits` lets no more be used; the device keeps its module.
        let (mut table, result) = unsafe {
            (Self::words(self.table, written), Self::words(self.result, self.target.len()))
        };
        // SAFETY: the host waits for the stream before it touches its buffers, which `self` owns.
        unsafe {
            table.async_copy_from(&self.source[..written], gpu.stream())?;
            self.launch(gpu)?;
            result.async_copy_to(&mut self.target[..], gpu.stream())?;
        }
        Ok(gpu.synchronize()?)
    }
}

impl HostWork for Symbols {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let words = self.source.len();
        match self.way {
            Way::ByName => self.by_name(gpu),
            Way::AddressKept | Way::Constant => self.by_address(gpu, words),
            Way::Part => self.by_address(gpu, words.div_ceil(4)),
            Way::Managed => self.in_place(gpu, words),
            Way::ManagedPart => self.in_place(gpu, words.div_ceil(4)),
        }
    }

    fn outputs(&mut self, _gpu: &Gpu) -> Result<Vec<Data>> {
        Ok(vec![Data::U32(self.target.to_vec())])
    }
}
