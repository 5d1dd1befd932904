//! Counts that depend on timing: those of loops that go on until other threads have written, and no others.

use crate::spent::spent;
use simt::{Launch, Memory, Module, Options, run};

/// The PTX of the instructions of a kernel that make its counts depend on timing, after one block ran it on zeroed memory.
fn decisive(body: &str) -> Vec<String> {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 array)\n{{
    .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [array];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd2, %rd1, %rd2;
    {body}
DONE:
    ret;\n}}"
    );
    let mut memory = Memory::default();
    let array = memory.allocate(4096).unwrap();
    let launch = Launch::new("k", [1, 1, 1], [64, 1, 1]).address(array);
    let options = Options { fuel: 1_000_000, ..Options::default() };
    let report = run(&Module::parse(&text).unwrap(), &mut memory, &launch, &options).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let found = report.depends_on_timing().map(|one| {
        assert!(lines[one.ptx_line as usize - 1].contains(&one.text), "{}", one.text);
        one.text.clone()
    });
    found.collect()
}

#[test]
fn loops_that_wait_for_others_or_try_again_are_named() {
    for (name, body, expected) in [
        (
            "retry of a compare-and-swap",
            "ld.global.u32 %r2, [%rd1];
            AGAIN: add.u32 %r3, %r2, 1;
            atom.global.cas.b32 %r4, [%rd1], %r2, %r3;
            setp.ne.u32 %p1, %r4, %r2;
            mov.u32 %r2, %r4;
            @%p1 bra AGAIN;",
            &["atom.global.cas.b32"][..],
        ),
        (
            "lock, with the way out in the middle",
            "AGAIN: atom.global.exch.b32 %r4, [%rd2], 1;
            setp.eq.u32 %p1, %r4, 0;
            @%p1 bra DONE;
            bra AGAIN;",
            &["atom.global.exch.b32"],
        ),
        (
            "poll, decided by what one of two ways sets",
            "AGAIN: ld.relaxed.gpu.global.u32 %r4, [%rd2];
            setp.eq.u32 %p1, %r4, 0;
            @%p1 bra ZERO;
            mov.u32 %r5, 1;
            bra NEXT;
            ZERO: mov.u32 %r5, 0;
            NEXT: setp.ne.u32 %p2, %r5, 0;
            @%p2 bra AGAIN;",
            &["ld.relaxed.gpu.global.u32"],
        ),
        (
            "poll of a volatile flag",
            "AGAIN: ld.volatile.global.u32 %r4, [%rd2];
            setp.ne.u32 %p1, %r4, 0;
            @%p1 bra AGAIN;",
            &["ld.volatile.global.u32"],
        ),
        (
            "work that blocks take from a counter",
            "AGAIN: atom.global.add.u32 %r4, [%rd1], 1;
            setp.lt.u32 %p1, %r4, 1000;
            @%p1 bra AGAIN;",
            &["atom.global.add.u32"],
        ),
    ] {
        assert_eq!(decisive(body), expected, "{name}");
    }
}

#[test]
fn other_kernels_are_not() {
    for (name, body) in [
        ("no loop", "ld.global.u32 %r2, [%rd2]; add.u32 %r2, %r2, 1; st.global.u32 [%rd2], %r2;"),
        (
            "a counted loop of plain loads",
            "mov.u32 %r5, 0;
            AGAIN: ld.global.u32 %r2, [%rd2];
            add.u32 %r5, %r5, 1;
            setp.lt.u32 %p1, %r5, 9;
            @%p1 bra AGAIN;",
        ),
        (
            "a counted loop of atomics whose results are places",
            "mov.u32 %r5, 0;
            AGAIN: atom.global.add.u32 %r2, [%rd1], 1;
            and.b32 %r2, %r2, 255;
            mul.wide.u32 %rd3, %r2, 4;
            add.u64 %rd3, %rd1, %rd3;
            st.global.u32 [%rd3+1024], %r2;
            add.u32 %r5, %r5, 1;
            setp.lt.u32 %p1, %r5, 9;
            @%p1 bra AGAIN;",
        ),
        (
            "a ticket, and a loop after it",
            "atom.global.inc.u32 %r2, [%rd1], 127;
            setp.ne.u32 %p1, %r2, 127;
            @%p1 bra DONE;
            mov.u32 %r5, 0;
            AGAIN: add.u32 %r5, %r5, 1;
            setp.lt.u32 %p1, %r5, 9;
            @%p1 bra AGAIN;",
        ),
        (
            "a loop that ends at what nobody else writes",
            "mov.u32 %r5, 0;
            AGAIN: ld.volatile.global.u32 %r4, [%rd2];
            add.u32 %r6, %r6, %r4;
            setp.ne.u32 %p2, %r4, 0;
            @%p2 bra SKIP;
            add.u32 %r7, %r7, 1;
            SKIP: add.u32 %r5, %r5, 1;
            setp.lt.u32 %p1, %r5, 9;
            @%p1 bra AGAIN;",
        ),
    ] {
        assert_eq!(decisive(body), [""; 0], "{name}");
    }
}

/// A program of many loops in one another is answered for at once.
#[test]
fn a_crafted_program_takes_no_longer() {
    let mut body = String::new();
    for index in 0..20_000 {
        body += &format!("L{index}: atom.global.cas.b32 %r4, [%rd1], %r2, %r3;\n");
    }
    for index in 0..20_000 {
        body += &format!("@%p1 bra L{index};\n");
    }
    let begun = std::time::Instant::now();
    let before = spent(begun);
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{
        .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;\n{body} ret;\n}}"
    );
    Module::parse(&text).unwrap();
    let took = spent(begun).saturating_sub(before);
    assert!(took.as_secs_f64() < 2.0, "{took:?}");
}
