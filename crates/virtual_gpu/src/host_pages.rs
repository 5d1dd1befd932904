//! Pages of the host that are taken away while a device may use them, so that an access of the program's shows.
//!
//! A page without rights makes an access a signal (`SIGSEGV`), whose handler notes it, gives the page back and lets the
//! program go on. It does what a handler may: it reads and writes atomics, and gives back rights. What no page of ours
//! caused goes to the handler that was there before.

pub(crate) use system::{
    accesses, forget, hold, is_of_c, is_plain, is_ready, let_go, protect, release,
};

/// An access of the program's to a page that was taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HostAccess {
    pub(crate) address: u64,
    pub(crate) writes: bool,
    /// The instruction, and the one behind the call that it is in, if it is the first of a function or that has no frame.
    pub(crate) code: [u64; 2],
}

/// The size of a page, on which allocations of ours begin.
pub(crate) const PAGE: u64 = 4096;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod system {
    use super::{HostAccess, PAGE};
    use std::ffi::CStr;
    use std::mem::MaybeUninit;
    use std::ops::Range;
    use std::ptr::{null, null_mut, with_exposed_provenance, with_exposed_provenance_mut};
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
    use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize};

    /// A range of pages. One that was given back stays known, because a thread may be on its way into the handler.
    struct Slot {
        start: AtomicU64,
        end: AtomicU64,
        is_taken: AtomicBool,
        accesses: AtomicU32,
    }

    struct Noted {
        address: AtomicU64,
        code: [AtomicU64; 2],
        writes: AtomicBool,
        is_whole: AtomicBool,
    }

    const SLOTS: usize = 256;
    /// Accesses that are noted between two calls of the driver.
    const NOTED: usize = 256;
    /// Accesses of a range after which all of it is given back.
    const MOST: u32 = 64;

    static TAKEN: [Slot; SLOTS] = [const {
        Slot {
            start: AtomicU64::new(0),
            end: AtomicU64::new(0),
            is_taken: AtomicBool::new(false),
            accesses: AtomicU32::new(0),
        }
    }; SLOTS];
    static ACCESSES: [Noted; NOTED] = [const {
        Noted {
            address: AtomicU64::new(0),
            code: [const { AtomicU64::new(0) }; 2],
            writes: AtomicBool::new(false),
            is_whole: AtomicBool::new(false),
        }
    }; NOTED];
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    /// Slots in use, of which none lies behind this number, and the slot that is looked at first for a new range.
    static USED: AtomicUsize = AtomicUsize::new(0);
    static TURN: AtomicUsize = AtomicUsize::new(0);
    /// The thread that has the machine, whose accesses are the device's.
    static HOLDER: AtomicI32 = AtomicI32::new(0);
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    fn set_rights(range: &Range<u64>, rights: libc::c_int) -> bool {
        let (start, bytes) = (range.start as usize, (range.end - range.start) as usize);
        // SAFETY: the pages are memory that the driver knows or knew, and whoever meets a page without rights gets it back
        // from the handler.
        unsafe { libc::mprotect(with_exposed_provenance_mut(start), bytes, rights) == 0 }
    }

    const ALL: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;

    type Handler = unsafe extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

    /// Gives a page back and notes the access; false where no range of ours has the address.
    fn give_back(address: u64, (code, top): (u64, u64), writes: bool) -> bool {
        let slots = &TAKEN[..USED.load(Acquire).min(SLOTS)];
        let has =
            |slot: &&Slot| slot.start.load(Acquire) <= address && address < slot.end.load(Acquire);
        // A range that is taken now may have been given back as a part of an older one.
        let found = slots.iter().find(|slot| slot.is_taken.load(Acquire) && has(slot));
        let Some(slot) = found.or_else(|| slots.iter().find(has)) else { return false };
        let page = address & !(PAGE - 1);
        let is_last = slot.accesses.fetch_add(1, Relaxed) >= MOST;
        let all = slot.start.load(Acquire)..slot.end.load(Acquire);
        if is_last || !set_rights(&(page..page + PAGE), ALL) {
            slot.is_taken.store(false, Release);
            if !set_rights(&all, ALL) {
                return false;
            }
        }
        // SAFETY: this asks for nothing.
        let thread = unsafe { libc::gettid() };
        if found.is_some() && HOLDER.load(Acquire) != thread {
            let place = NEXT.fetch_add(1, Relaxed);
            if let Some(noted) = ACCESSES.get(place) {
                noted.address.store(address, Relaxed);
                let top = with_exposed_provenance::<u64>(top as usize);
                // SAFETY: the top of the stack of code that reached for data of the program's: its own return is there, at least.
                let behind_call = unsafe { top.read_unaligned() };
                noted.code[0].store(code, Relaxed);
                noted.code[1].store(behind_call, Relaxed);
                noted.writes.store(writes, Relaxed);
                noted.is_whole.store(true, Release);
            }
        }
        true
    }

    /// # Safety
    /// - The system calls it for a signal, with what it gives to a handler of `SA_SIGINFO`.
    unsafe extern "C" fn handle(
        signal: libc::c_int,
        about: *mut libc::siginfo_t,
        context: *mut libc::c_void,
    ) {
        /// `SEGV_ACCERR`: a page that is there, without the rights.
        const NO_RIGHTS: libc::c_int = 2;
        // SAFETY: by the contract both are valid, and the signal is one that has an address.
        let (kind, address, registers) = unsafe {
            let context = &*context.cast::<libc::ucontext_t>();
            ((*about).si_code, (*about).si_addr() as u64, &context.uc_mcontext.gregs)
        };
        let [code, top] = [libc::REG_RIP, libc::REG_RSP].map(|at| registers[at as usize] as u64);
        // Bit 1 of the fault's code says that it was a write (AMD64 Architecture Programmer's Manual 2, "#PF").
        let writes = registers[libc::REG_ERR as usize] & 2 != 0;
        // SAFETY: the place of this thread's error, which the interrupted code may be about to read.
        let error = unsafe { *libc::__errno_location() };
        let is_ours = kind == NO_RIGHTS && give_back(address, (code, top), writes);
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = error };
        if is_ours {
            return;
        }
        let before = BEFORE.get().map_or(libc::SIG_DFL, |before| before.sa_sigaction);
        let takes_three = BEFORE.get().is_some_and(|it| it.sa_flags & libc::SA_SIGINFO != 0);
        if before == libc::SIG_DFL || before == libc::SIG_IGN {
            // The instruction comes again, and ends the program as it would have done.
            // SAFETY: the action is whole, and asks for what the system does by itself.
            unsafe {
                let mut usual = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
                usual.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &raw const usual, null_mut());
            }
        } else if takes_three {
            // SAFETY: who installed it said that it is such a function.
            let before = unsafe { std::mem::transmute::<usize, Handler>(before) };
            // SAFETY: with what the system gave.
            unsafe { before(signal, about, context) };
        } else {
            // SAFETY: as above, for the other kind.
            let before =
                unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(libc::c_int)>(before) };
            // SAFETY: with what the system gave.
            unsafe { before(signal) };
        }
    }

    fn current() -> Option<libc::sigaction> {
        let mut action = MaybeUninit::zeroed();
        // SAFETY: the call writes what it is given a place for.
        let asked = unsafe { libc::sigaction(libc::SIGSEGV, null(), action.as_mut_ptr()) };
        // SAFETY: zeroes are an action, and so is what the call wrote.
        (asked == 0).then(|| unsafe { action.assume_init() })
    }

    /// Returns whether accesses can be seen: the handler is there, which the first call installs, and nobody replaced it.
    pub(crate) fn is_ready() -> bool {
        let handler = handle as Handler as usize;
        let Some(now) = current() else { return false };
        if BEFORE.get().is_some() {
            return now.sa_sigaction == handler;
        }
        // SAFETY: this asks for a number.
        if unsafe { libc::sysconf(libc::_SC_PAGESIZE) } != PAGE as libc::c_long {
            return false;
        }
        BEFORE.get_or_init(|| now);
        // SAFETY: zeroes are an action without flags that blocks nothing.
        let mut action = unsafe { MaybeUninit::<libc::sigaction>::zeroed().assume_init() };
        (action.sa_sigaction, action.sa_flags) = (handler, libc::SA_SIGINFO | libc::SA_ONSTACK);
        // SAFETY: the handler lives as long as the program and may be called at any time.
        unsafe { libc::sigaction(libc::SIGSEGV, &raw const action, null_mut()) == 0 }
    }

    /// Takes the right to write whole pages away, and that to read them, too, unless they may be read; false where that
    /// cannot be. The machine is held.
    pub(crate) fn protect(range: &Range<u64>, may_be_read: bool) -> bool {
        let first = TURN.load(Relaxed);
        let free = (first..first + SLOTS).map(|at| at % SLOTS);
        let Some(at) = { free }.find(|at| !TAKEN[*at].is_taken.load(Acquire)) else {
            return false;
        };
        TURN.store(at + 1, Relaxed);
        let slot = &TAKEN[at];
        // Nothing lies in the slot while it changes.
        slot.end.store(0, Release);
        slot.start.store(range.start, Release);
        slot.end.store(range.end, Release);
        slot.accesses.store(0, Relaxed);
        slot.is_taken.store(true, Release);
        USED.fetch_max(at + 1, Release);
        let rights = if may_be_read { libc::PROT_READ } else { libc::PROT_NONE };
        let is_done = set_rights(range, rights);
        if !is_done {
            slot.is_taken.store(false, Release);
        }
        is_done
    }

    /// Gives a range back that was taken.
    pub(crate) fn release(range: &Range<u64>) {
        let is_it = |slot: &&Slot| {
            (slot.start.load(Relaxed), slot.end.load(Relaxed)) == (range.start, range.end)
                && slot.is_taken.load(Relaxed)
        };
        let Some(slot) = TAKEN.iter().find(is_it) else { return };
        // Whoever comes in between is let in and not noted.
        slot.is_taken.store(false, Release);
        set_rights(range, ALL);
    }

    /// Forgets ranges of memory that goes, all of which were given back.
    pub(crate) fn forget(range: &Range<u64>) {
        for slot in &TAKEN {
            let (start, end) = (slot.start.load(Relaxed), slot.end.load(Relaxed));
            if start < range.end && range.start < end {
                slot.end.store(0, Release);
            }
        }
    }

    /// Takes the accesses that were noted.
    pub(crate) fn accesses() -> Vec<HostAccess> {
        if NEXT.load(Acquire) == 0 {
            return Vec::new();
        }
        let noted = ACCESSES.iter().filter(|noted| noted.is_whole.swap(false, Acquire));
        let found = noted.map(|noted| HostAccess {
            address: noted.address.load(Relaxed),
            writes: noted.writes.load(Relaxed),
            code: [0, 1].map(|at| noted.code[at].load(Relaxed)),
        });
        let found = found.collect();
        NEXT.store(0, Release);
        found
    }

    /// This thread has the machine: its accesses are the device's.
    pub(crate) fn hold() {
        if USED.load(Relaxed) > 0 {
            // SAFETY: this asks for a number.
            HOLDER.store(unsafe { libc::gettid() }, Release);
        }
    }

    /// It has it no more.
    pub(crate) fn let_go() {
        if USED.load(Relaxed) > 0 {
            HOLDER.store(0, Release);
        }
    }

    /// Returns whether an instruction is C's library's, whose functions that move memory have no frame.
    pub(crate) fn is_of_c(code: u64) -> bool {
        let mut about = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: the call looks an address up and writes what it finds.
        unsafe {
            libc::dladdr(with_exposed_provenance(code as usize), about.as_mut_ptr()) != 0
                && !about.assume_init_ref().dli_fname.is_null()
                && CStr::from_ptr(about.assume_init_ref().dli_fname)
                    .to_bytes()
                    .rsplit(|byte| *byte == b'/')
                    .next()
                    .is_some_and(|name| name.starts_with(b"libc.") || name.starts_with(b"libc-"))
        }
    }

    /// Returns whether memory of the program's can be read and written throughout, and is no stack: its rights are those
    /// that are given back.
    pub(crate) fn is_plain(range: &Range<u64>) -> bool {
        let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return false };
        let mut known = range.start;
        for line in maps.lines() {
            if known >= range.end {
                return true;
            }
            let mut fields = line.split_ascii_whitespace();
            let (Some(place), Some(rights)) = (fields.next(), fields.next()) else { continue };
            let Some((start, end)) = place.split_once('-') else { continue };
            let number = |text| u64::from_str_radix(text, 16).unwrap_or(0);
            let (start, end) = (number(start), number(end));
            if start <= known && known < end {
                if !rights.starts_with("rw-") || line.ends_with("[stack]") {
                    return false;
                }
                known = end;
            }
        }
        false
    }
}

/// Elsewhere no page is taken away: what the host accesses is not known.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod system {
    use super::HostAccess;
    use std::ops::Range;

    pub(crate) fn is_ready() -> bool {
        false
    }

    pub(crate) fn protect(_range: &Range<u64>, _may_be_read: bool) -> bool {
        false
    }

    pub(crate) fn release(_range: &Range<u64>) {}

    pub(crate) fn forget(_range: &Range<u64>) {}

    pub(crate) fn accesses() -> Vec<HostAccess> {
        Vec::new()
    }

    pub(crate) fn hold() {}

    pub(crate) fn let_go() {}

    pub(crate) fn is_of_c(_code: u64) -> bool {
        false
    }

    pub(crate) fn is_plain(_range: &Range<u64>) -> bool {
        false
    }
}
