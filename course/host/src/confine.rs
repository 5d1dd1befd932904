//! Rights that the system takes from a process that only computes.
//!
//! The judge sets limits before the program starts. The program gives up all calls of the system that it does not need
//! before it runs the learner's file: it opens nothing, starts nothing, and reaches no network and no other process.

use std::io::Error;

/// True when this system can take calls from a process.
pub const IS_CONFINED: bool = cfg!(all(
    target_os = "linux",
    target_endian = "little",
    any(target_arch = "x86_64", target_arch = "aarch64")
));

/// Gives up all calls of the system but those that computing needs, in every thread and for good.
#[cfg(all(
    target_os = "linux",
    target_endian = "little",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) fn confine() -> Result<(), Error> {
    let mut filter = filter(std::process::id());
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).expect("a filter is short"),
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the call takes numbers only.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(Error::last_os_error());
    }
    let (mode, flags) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_TSYNC);
    // SAFETY: the program and its filter live until the call returns; the kernel copies them.
    if unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) } != 0 {
        return Err(Error::last_os_error());
    }
    Ok(())
}

/// Leaves the process as it is: this system has no such filters.
#[cfg(not(all(
    target_os = "linux",
    target_endian = "little",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
pub(crate) fn confine() -> Result<(), Error> {
    Ok(())
}

/// The filter of a process, in the instructions of the kernel's small machine.
#[cfg(all(
    target_os = "linux",
    target_endian = "little",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
fn filter(process: u32) -> Vec<libc::sock_filter> {
    /// Calls of a program that computes, waits for its threads, and ends.
    const ALLOWED: &[libc::c_long] = &[
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_munmap,
        libc::SYS_mprotect,
        libc::SYS_mremap,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_mlock,
        libc::SYS_munlock,
        libc::SYS_futex,
        libc::SYS_sched_yield,
        libc::SYS_sched_getaffinity,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_gettimeofday,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_getcpu,
        libc::SYS_getrandom,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_set_robust_list,
        libc::SYS_rseq,
        libc::SYS_membarrier,
        libc::SYS_restart_syscall,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ];
    /// Offset of the call's number in the record, then of the processor and of arguments' low halves.
    const NUMBER: u32 = 0;
    const PROCESSOR: u32 = 4;
    const ARGUMENT_0: u32 = 16;
    const ARGUMENT_3: u32 = 40;
    let processor = if cfg!(target_arch = "x86_64") {
        0xc000_003e
    } else {
        /* aarch64 */
        0xc000_00b7
    };
    let one = |code: u32, k: u32, (jt, jf)| libc::sock_filter { code: code as u16, jt, jf, k };
    let load = |at| one(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at, (0, 0));
    // Skips so many instructions unless the loaded word is this one, or unless it has one of these bits.
    let unless =
        |word: u32, skip| one(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, word, (0, skip));
    let unless_any =
        |bits: u32, skip| one(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, bits, (0, skip));
    let end = |what| one(libc::BPF_RET | libc::BPF_K, what, (0, 0));
    let refuse = |error: i32| end(libc::SECCOMP_RET_ERRNO | error as u32);
    let (allow, deny) = (end(libc::SECCOMP_RET_ALLOW), refuse(libc::EPERM));
    // The numbers of another processor mean other calls.
    let is_own = one(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, processor, (1, 0));
    let mut filter = vec![load(PROCESSOR), is_own, deny, load(NUMBER)];
    for call in ALLOWED {
        filter.extend([unless(*call as u32, 1), allow]);
    }
    // A thread, and no process.
    filter.extend([unless(libc::SYS_clone as u32, 4), load(ARGUMENT_0)]);
    filter.extend([unless_any(libc::CLONE_THREAD as u32, 1), allow, deny]);
    // The newer call has its flags in memory, where no filter sees them; the library then takes the older.
    filter.extend([unless(libc::SYS_clone3 as u32, 1), refuse(libc::ENOSYS)]);
    // Memory of its own, and none that is shared: that has no limit.
    filter.extend([unless(libc::SYS_mmap as u32, 4), load(ARGUMENT_3)]);
    filter.extend([unless_any(libc::MAP_SHARED as u32, 1), deny, allow]);
    // A signal to itself, which is how a program aborts.
    filter.extend([unless(libc::SYS_tgkill as u32, 4), load(ARGUMENT_0)]);
    filter.extend([unless(process, 1), allow, deny]);
    filter.push(deny);
    filter
}
