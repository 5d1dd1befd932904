//! The work of each variant: arrays on every device, and what is enqueued on whose stream.

use super::chain::links;
use crate::prelude::*;
use anyhow::bail;
use coalesce::nccl::Nccl;
use coalesce::pattern::Unavailable;
use cuda_host::{DevicePtr, DevicePtrMut};
use cust::context::CurrentContext;
use cust::device::Device;
use cust::event::{Event, EventFlags};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust_ext::peer::{self, MutualAccess};
use cust_ext::stream::wait_event;
use kernels::transfer::peer_to_peer::{
    COUNTERS, LINK_DISTANCE, THREADS_PER_BLOCK, peer_to_peer_add, peer_to_peer_all_reduce,
    peer_to_peer_atomics, peer_to_peer_chase, peer_to_peer_copy_vectorized,
    peer_to_peer_copy_words,
};
use std::ops::Range;

/// Words of an array per addition.
const WORDS_PER_ADDITION: usize = 16;

pub fn additions(n: usize) -> usize {
    n.div_ceil(WORDS_PER_ADDITION)
}

/// The way of data from one device to another.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    Copy { direct: bool },
    CopyEach,
    CopyEveryPair,
    Read { vectorized: bool },
    Write { vectorized: bool },
    ReadEach,
    Chase { remote: bool },
    Atomics(Counters),
    AllReduceOnOne,
    AllReduceRing,
    AllReduceDirect,
    AllReduceNccl,
}

/// Whose counters who updates.
#[derive(Clone, Copy, PartialEq)]
pub enum Counters {
    Local,
    Remote,
    Shared,
}

impl Way {
    /// Returns whether it takes more than a stream of the first device.
    fn needs_others(self) -> bool {
        !matches!(self, Way::Copy { .. } | Way::Read { .. } | Way::Chase { .. })
    }
}

/// The arrays of every device, and how they are moved.
struct Work {
    way: Way,
    n: usize,
    sources: Vec<DeviceBuffer<u32>>,
    targets: Vec<DeviceBuffer<u32>>,
    /// The values that a device has received and not yet added, on each.
    received: Vec<DeviceBuffer<u32>>,
    /// For each device, the addresses of all sources and all targets.
    addresses: Vec<DeviceBuffer<u64>>,
    links: DeviceBuffer<u32>,
    counters: DeviceBuffer<u32>,
    /// The other devices begin after this event of the first, which goes on after theirs.
    fork: Event,
    joins: Vec<Event>,
    /// For each step of a ring, an event of each device.
    steps: Vec<Vec<Event>>,
    nccl: Option<Nccl>,
    /// Ends last: whoever uses another's memory is done.
    _access: Option<MutualAccess>,
}

/// The first devices of the machine, the one that is measured first.
fn machine(gpu: &Gpu, devices: usize) -> Result<Vec<&Gpu>> {
    let peers = gpu.peers()?;
    if peers.len() + 1 < devices {
        let has = match peers.len() {
            0 => "one device".to_owned(),
            others => format!("{} devices", others + 1),
        };
        bail!(Unavailable(format!("it needs {devices} devices, and the machine has {has}")));
    }
    Ok(std::iter::once(gpu).chain(&peers[..devices - 1]).collect())
}

pub fn build(gpu: &Gpu, case: &Case, size: &Size, way: Way) -> Result<Box<dyn HostWork>> {
    let [n, devices] = size.get();
    let gpus = machine(gpu, devices)?;
    let all: Vec<Device> = gpus.iter().map(|gpu| *gpu.device()).collect();
    for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
        if one.as_raw() == other.as_raw() || way == (Way::Copy { direct: false }) {
            continue;
        }
        if !peer::can_access(one, other)? {
            bail!(Unavailable("the devices cannot access each other's memory".to_owned()));
        }
        if matches!(way, Way::Atomics(_)) && !peer::info(one, other)?.native_atomics {
            bail!(Unavailable("atomics do not work over the devices' link".to_owned()));
        }
    }
    let access = match way {
        Way::Copy { direct: false } => {
            MutualAccess::end(&all)?;
            None
        }
        // NCCL enables what it needs.
        Way::AllReduceNccl => None,
        _ => Some(MutualAccess::enable(&all)?),
    };
    let on_each = |make: &dyn Fn(usize) -> Result<DeviceBuffer<u32>>| -> Result<Vec<_>> {
        let made = gpus.iter().enumerate().map(|(device, gpu)| {
            gpu.make_current()?;
            let made = make(device)?;
            // Copies from pageable memory may return before they have arrived.
            CurrentContext::synchronize()?;
            Ok(made)
        });
        made.collect()
    };
    let poison = |words: usize| -> Result<DeviceBuffer<u32>> {
        // SAFETY: it is filled before anybody reads it.
        let mut buffer = unsafe { DeviceBuffer::uninitialized(words) }?;
        buffer.set_8(POISON)?;
        Ok(buffer)
    };
    let source = |device: usize| {
        let values = u32::view(&case.inputs[device]).expect("the case holds u32");
        Ok(DeviceBuffer::from_slice(values)?)
    };
    let (sources, targets) = (on_each(&source)?, on_each(&|_| poison(n))?);
    let adds = matches!(way, Way::AllReduceOnOne | Way::AllReduceRing);
    let received = if adds { on_each(&|_| poison(n))? } else { Vec::new() };
    let mut addresses = Vec::new();
    for (device, gpu) in gpus.iter().enumerate() {
        gpu.make_current()?;
        let of = |arrays: &[DeviceBuffer<u32>], other: usize| {
            arrays[(device + other) % devices].as_device_ptr().as_raw()
        };
        let lists = [&sources, &targets].into_iter();
        let list = lists.flat_map(|arrays| (0..devices).map(move |other| of(arrays, other)));
        addresses.push(DeviceBuffer::from_slice(&list.collect::<Vec<u64>>())?);
        CurrentContext::synchronize()?;
    }
    let event = || Event::new(EventFlags::DISABLE_TIMING);
    let each = |gpus: &[&Gpu]| -> Result<Vec<Event>> {
        let made = gpus.iter().map(|gpu| {
            gpu.make_current()?;
            Ok(event()?)
        });
        made.collect()
    };
    let (joins, ring) = (each(&gpus[1..])?, 2 * (devices - 1));
    let steps = (0..ring).map(|_| each(&gpus)).collect::<Result<_>>()?;
    let owner = |is_remote: bool| gpus[usize::from(is_remote)].make_current();
    owner(way == Way::Chase { remote: true })?;
    let chain = if matches!(way, Way::Chase { .. }) { links(n) } else { vec![0] };
    let mut spread = vec![0; chain.len() * LINK_DISTANCE as usize];
    for (link, next) in chain.iter().enumerate() {
        spread[link * LINK_DISTANCE as usize] = *next;
    }
    let links = DeviceBuffer::from_slice(&spread)?;
    CurrentContext::synchronize()?;
    owner(way == Way::Atomics(Counters::Remote))?;
    let counters = poison(COUNTERS as usize)?;
    CurrentContext::synchronize()?;
    gpu.make_current()?;
    let nccl = if way == Way::AllReduceNccl { Some(Nccl::connect(&gpus)?) } else { None };
    Ok(Box::new(Work {
        way,
        n,
        sources,
        targets,
        received,
        addresses,
        links,
        counters,
        fork: event()?,
        joins,
        steps,
        nccl,
        _access: access,
    }))
}

/// Enqueues the copy of a part of an array that `from` has to the same part of one that `to` has, on `to`'s stream.
fn copy(
    from: (&DeviceBuffer<u32>, &Gpu),
    to: (&DeviceBuffer<u32>, &Gpu),
    part: Range<usize>,
) -> Result<()> {
    if part.is_empty() {
        return Ok(());
    }
    to.1.make_current()?;
    let (source, mut target) = (from.0.index(part.clone()), to.0.index(part));
    // SAFETY: both arrays are the work's, which waits for the streams before it ends; events order what overlaps.
    unsafe {
        peer::copy((&source, from.1.context()), (&mut target, to.1.context()), to.1.stream())?;
    }
    Ok(())
}

/// The address of a part of an array.
fn at(array: &DeviceBuffer<u32>, first: usize) -> u64 {
    array.as_device_ptr().as_raw() + 4 * first as u64
}

/// Enqueues a kernel that works on `words` words of two arrays, four per thread.
fn launch_copy(gpu: &Gpu, source: u64, target: u64, n: usize, vectorized: bool) -> Result<()> {
    gpu.make_current()?;
    let (from, to) = (DevicePtr::from_raw(source, n), DevicePtrMut::from_raw(target, n));
    let (threads, words) = (THREADS_PER_BLOCK, n as u32);
    // SAFETY: both arrays have n words, are aligned as allocations are, and can be accessed by the device; the grid
    // covers n, and events order other uses.
    unsafe {
        let launcher = gpu.launcher();
        if vectorized {
            let grid = words.div_ceil(4 * threads);
            Ok(launcher.launch(
                peer_to_peer_copy_vectorized,
                grid,
                threads,
                0,
                (from, to, words),
            )?)
        } else {
            let grid = words.div_ceil(threads);
            Ok(launcher.launch(peer_to_peer_copy_words, grid, threads, 0, (from, to, words))?)
        }
    }
}

/// Enqueues the sum of a part of two arrays of one device into the second.
fn launch_add(
    gpu: &Gpu,
    source: &DeviceBuffer<u32>,
    target: &DeviceBuffer<u32>,
    part: Range<usize>,
) -> Result<()> {
    if part.is_empty() {
        return Ok(());
    }
    gpu.make_current()?;
    let n = part.len();
    let from = DevicePtr::<u32>::from_raw(at(source, part.start), n);
    let to = DevicePtrMut::<u32>::from_raw(at(target, part.start), n);
    let (threads, words) = (THREADS_PER_BLOCK, n as u32);
    // SAFETY: both parts have n words and begin with a multiple of four; the grid covers n; stream and events order
    // other uses.
    unsafe {
        let grid = words.div_ceil(4 * threads);
        Ok(gpu.launcher().launch(peer_to_peer_add, grid, threads, 0, (from, to, words))?)
    }
}

impl Work {
    /// The part of every array that is one device's business: a multiple of four words, but for the last.
    fn part(&self, device: usize) -> Range<usize> {
        let words = self.n.div_ceil(self.sources.len()).next_multiple_of(4);
        (device * words).min(self.n)..((device + 1) * words).min(self.n)
    }

    fn enqueue(&self, gpus: &[&Gpu]) -> Result<()> {
        let (n, devices) = (self.n, gpus.len());
        let next = |device: usize| (device + 1) % devices;
        let source = |device: usize| (&self.sources[device], gpus[device]);
        let target = |device: usize| (&self.targets[device], gpus[device]);
        let start = |arrays: &[DeviceBuffer<u32>], device: usize| at(&arrays[device], 0);
        match self.way {
            Way::Copy { .. } => copy(source(1), target(0), 0..n),
            Way::CopyEach => {
                (0..devices).try_for_each(|to| copy(source(next(to)), target(to), 0..n))
            }
            Way::CopyEveryPair => self.copy_every_pair(gpus),
            Way::Read { vectorized } => {
                let (from, to) = (start(&self.sources, 1), start(&self.targets, 0));
                launch_copy(gpus[0], from, to, n, vectorized)
            }
            Way::Write { vectorized } => {
                let (from, to) = (start(&self.sources, 1), start(&self.targets, 0));
                launch_copy(gpus[1], from, to, n, vectorized)
            }
            Way::ReadEach => (0..devices).try_for_each(|to| {
                let from = start(&self.sources, next(to));
                launch_copy(gpus[to], from, start(&self.targets, to), n, true)
            }),
            Way::Chase { .. } => self.chase(gpus[0]),
            Way::Atomics(counters) => self.atomics(gpus, counters),
            Way::AllReduceOnOne => self.all_reduce_on_one(gpus),
            Way::AllReduceRing => self.all_reduce_ring(gpus),
            Way::AllReduceDirect => self.all_reduce_direct(gpus),
            Way::AllReduceNccl => {
                let addresses = self.sources.iter().zip(&self.targets);
                let addresses: Vec<_> = addresses.map(|(a, b)| (at(a, 0), at(b, 0))).collect();
                let Some(nccl) = &self.nccl else { return Ok(()) };
                // SAFETY: sources and targets have n words each, live as long as this, and are used by nobody else.
                unsafe { nccl.all_reduce(gpus, &addresses, n) }
            }
        }
    }

    /// Each device's copy begins when that of the pair before has ended; the last one is that from the next device.
    fn copy_every_pair(&self, gpus: &[&Gpu]) -> Result<()> {
        let devices = gpus.len();
        let mut before: Option<&Event> = None;
        for (step, distance) in (2..=devices).chain([1]).filter(|it| it % devices != 0).enumerate()
        {
            for (to, gpu) in gpus.iter().enumerate() {
                gpu.make_current()?;
                if let Some(before) = before {
                    wait_event(gpu.stream(), before)?;
                }
                let from = (to + distance) % devices;
                copy((&self.sources[from], gpus[from]), (&self.targets[to], gpu), 0..self.n)?;
                let done = &self.steps[step][to];
                done.record(gpu.stream())?;
                before = Some(done);
            }
        }
        Ok(())
    }

    fn chase(&self, gpu: &Gpu) -> Result<()> {
        let (words, hops) = (self.links.len(), self.links.len() / LINK_DISTANCE as usize);
        let links = DevicePtr::<u32>::from_raw(at(&self.links, 0), words);
        let result = DevicePtrMut::<u32>::from_raw(at(&self.counters, 0), COUNTERS as usize);
        // SAFETY: each link holds the number of a link, and the counters have room for two words.
        unsafe {
            Ok(gpu.launcher().launch(peer_to_peer_chase, 1, 1, 0, (links, result, hops as u32))?)
        }
    }

    fn atomics(&self, gpus: &[&Gpu], whose: Counters) -> Result<()> {
        let owner = usize::from(whose == Counters::Remote);
        let workers = if whose == Counters::Shared { gpus } else { &gpus[..1] };
        gpus[owner].make_current()?;
        let mut all = self.counters.index(..);
        // SAFETY: the counters live as long as the work, which waits for the stream.
        unsafe { all.set_8_async(0, gpus[owner].stream()) }?;
        let zeroed = &self.steps[0][owner];
        zeroed.record(gpus[owner].stream())?;
        let additions = additions(self.n) as u32;
        for gpu in workers {
            gpu.make_current()?;
            wait_event(gpu.stream(), zeroed)?;
            let counters = DevicePtrMut::<u32>::from_raw(at(&self.counters, 0), COUNTERS as usize);
            let grid = additions.div_ceil(THREADS_PER_BLOCK);
            // SAFETY: the grid covers the additions; all accesses to the counters are atomic for the system, after they
            // were zeroed, and the devices' link has native atomics.
            unsafe {
                gpu.launcher().launch(
                    peer_to_peer_atomics,
                    grid,
                    THREADS_PER_BLOCK,
                    0,
                    (counters, additions),
                )?;
            }
        }
        Ok(())
    }

    fn all_reduce_on_one(&self, gpus: &[&Gpu]) -> Result<()> {
        let all = 0..self.n;
        let [one, received] = [&self.targets[0], &self.received[0]].map(|array| (array, gpus[0]));
        copy((&self.sources[0], gpus[0]), one, all.clone())?;
        for (source, gpu) in self.sources.iter().zip(gpus).skip(1) {
            copy((source, gpu), received, all.clone())?;
            launch_add(gpus[0], received.0, one.0, all.clone())?;
        }
        let summed = &self.steps[0][0];
        summed.record(gpus[0].stream())?;
        for (target, gpu) in self.targets.iter().zip(gpus).skip(1) {
            gpu.make_current()?;
            wait_event(gpu.stream(), summed)?;
            copy(one, (target, gpu), all.clone())?;
        }
        Ok(())
    }

    /// In step `s` device `d` takes from the device before it part `d - 1 - s`, which is complete there but for what is
    /// still to come, and adds its own; after all but one steps each has one whole part. In as many more steps these are
    /// handed on.
    fn all_reduce_ring(&self, gpus: &[&Gpu]) -> Result<()> {
        let devices = gpus.len();
        let last = devices - 1;
        for (step, done) in self.steps.iter().enumerate() {
            for (device, gpu) in gpus.iter().enumerate() {
                let before = (device + last) % devices;
                gpu.make_current()?;
                if step > 0 {
                    wait_event(gpu.stream(), &self.steps[step - 1][before])?;
                }
                let behind = if step < last { step + 1 } else { step - last };
                let part = self.part((device + 2 * devices - behind) % devices);
                let (own, target) = (&self.sources[device], &self.targets[device]);
                let from = if step == 0 { &self.sources } else { &self.targets };
                copy((&from[before], gpus[before]), (target, gpu), part.clone())?;
                if step < last {
                    launch_add(gpu, own, target, part)?;
                }
                done[device].record(gpu.stream())?;
            }
        }
        Ok(())
    }

    fn all_reduce_direct(&self, gpus: &[&Gpu]) -> Result<()> {
        let devices = gpus.len() as u32;
        for (device, gpu) in gpus.iter().enumerate() {
            let part = self.part(device);
            if part.is_empty() {
                continue;
            }
            gpu.make_current()?;
            let (first, end) = (part.start as u32, part.end as u32);
            let grid = (end - first).div_ceil(4 * THREADS_PER_BLOCK);
            let arrays = &self.addresses[device];
            // SAFETY: the list has the addresses of every device's source and target, which all may access; the grid
            // covers this device's part, which begins with a multiple of four and which no other device writes.
            unsafe {
                gpu.launcher().launch(
                    peer_to_peer_all_reduce,
                    grid,
                    THREADS_PER_BLOCK,
                    0,
                    (arrays, devices, first, end),
                )?;
            }
        }
        Ok(())
    }
}

impl HostWork for Work {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let gpus = machine(gpu, self.sources.len())?;
        if !self.way.needs_others() {
            return self.enqueue(&gpus);
        }
        self.fork.record(gpu.stream())?;
        for peer in &gpus[1..] {
            peer.make_current()?;
            wait_event(peer.stream(), &self.fork)?;
        }
        self.enqueue(&gpus)?;
        for (peer, join) in gpus[1..].iter().zip(&self.joins) {
            peer.make_current()?;
            join.record(peer.stream())?;
        }
        gpu.make_current()?;
        for join in &self.joins {
            wait_event(gpu.stream(), join)?;
        }
        Ok(())
    }

    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>> {
        gpu.synchronize()?;
        let of = |array: &DeviceBuffer<u32>| -> Result<Vec<u32>> {
            let mut values = vec![0; array.len()];
            array.copy_to(&mut values)?;
            Ok(values)
        };
        let result = match self.way {
            Way::Copy { .. } | Way::Read { .. } | Way::Write { .. } => of(&self.targets[0])?,
            Way::Chase { .. } => of(&self.counters)?[..2].to_vec(),
            Way::Atomics(_) => of(&self.counters)?,
            _ => {
                let mut all = Vec::new();
                for (target, gpu) in self.targets.iter().zip(machine(gpu, self.targets.len())?) {
                    gpu.make_current()?;
                    all.extend(of(target)?);
                }
                gpu.make_current()?;
                all
            }
        };
        Ok(vec![Data::U32(result)])
    }

    fn grows_in_blocks(&self) -> bool {
        !matches!(self.way, Way::Chase { .. })
    }
}
