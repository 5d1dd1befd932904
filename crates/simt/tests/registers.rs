//! Reads of registers that nobody wrote: found where a lane makes one, and nowhere else.

use simt::{Checks, Hazard, Launch, Memory, Module, Options, run};

/// The PTX lines, counted from the body's first, and the lanes at which the check strikes.
fn found(body: &str) -> Vec<(u32, u32)> {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .func (.param .b32 r) twice(.param .b32 a) {{ .reg .b32 %s<3>; \
         ld.param.b32 %s1, [a]; add.u32 %s2, %s1, %s1; st.param.b32 [r], %s2; ret; }}\n\
         .visible .entry k(.param .u64 p) {{\n\
         .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n\
         ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 8;\n\
         {body}\nret;\n}}\n"
    );
    let module = Module::parse(&text).unwrap();
    let mut memory = Memory::default();
    let buffer = memory.allocate(4096).unwrap();
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).address(buffer);
    let options = Options { checks: Checks::all(), ..Options::default() };
    let report = run(&module, &mut memory, &launch, &options).unwrap();
    let uninitialized = report.findings.iter().map(|finding| {
        assert_eq!(finding.hazard, Hazard::UninitializedRegister, "{finding}");
        (finding.place.ptx_line - 8, finding.place.lanes)
    });
    uninitialized.collect()
}

#[test]
fn defined_on_every_path() {
    assert_eq!(
        found(
            "@%p1 bra A; mov.u32 %r2, 4; bra B;\nA: mov.u32 %r2, 8;\n\
             B: cvt.u64.u32 %rd2, %r2; add.u64 %rd2, %rd2, %rd1; ld.global.u32 %r3, [%rd2];"
        ),
        []
    );
}

#[test]
fn defined_on_one_side_of_a_branch() {
    let body = "@%p1 bra B;\nmov.u64 %rd2, %rd1;\nB: ld.global.u32 %r3, [%rd2];";
    // Lanes 0 to 7 have no address; registers start as zero, so that this access fails.
    let body =
        body.replace("ld.global.u32 %r3, [%rd2]", "setp.eq.u64 %p2, %rd2, 0; @%p2 bra C; C:");
    assert_eq!(found(&body), [(2, 0xff)]);
}

#[test]
fn written_under_a_guard() {
    let body = "@%p1 setp.gt.u32 %p2, %r1, 3;\n@%p2 add.u32 %r2, %r1, 1;\n\
                @%p1 mov.u32 %r5, 1;\n@%p1 st.global.u32 [%rd1], %r5;";
    assert_eq!(found(body), [(1, 0xffff_ff00)]);
}

#[test]
fn copies_are_found_where_they_matter() {
    let body = "mov.u32 %r3, %r2;\nadd.u32 %r4, %r3, 1;\nsetp.eq.u32 %p2, %r4, 5;\n@%p2 bra C;\nC:";
    assert_eq!(found(body), [(3, u32::MAX)]);
}

#[test]
fn a_loop_that_some_lanes_skip() {
    let body = "mov.u32 %r2, %r1;\nL: setp.ge.u32 %p2, %r2, 8; @%p2 bra E;\n\
                mov.u32 %r6, 4; add.u32 %r2, %r2, 1; bra L;\n\
                E: setp.eq.u32 %p3, %r6, 4;\n@%p3 bra F;\nF:";
    assert_eq!(found(body), [(4, 0xffff_ff00)]);
}

#[test]
fn one_operand_may_decide_a_conjunction_or_a_disjunction() {
    // %p2 is undefined in lanes 8 and up, and %p1 is false there.
    let some = "@%p1 setp.gt.u32 %p2, %r1, 3;\n";
    let branch = "\n@%p3 bra C;\nC:";
    let found = |code: &str| found(&[some, code, branch].concat());
    assert_eq!(found("and.pred %p3, %p1, %p2;"), []);
    assert_eq!(found("not.pred %p1, %p1; or.pred %p3, %p2, %p1;"), []);
    assert_eq!(found("or.pred %p3, %p1, %p2;"), [(2, 0xffff_ff00)]);
    assert_eq!(found("not.pred %p1, %p1; and.pred %p3, %p1, %p2;"), [(2, 0xffff_ff00)]);
    assert_eq!(found("xor.pred %p3, %p1, %p2;"), [(2, 0xffff_ff00)]);
    // %r2 is undefined everywhere; a zero decides a conjunction of words, any other word does not.
    let words = |code: &str| found(&format!("{code} setp.eq.u32 %p3, %r4, 1;"));
    assert_eq!(words("mov.u32 %r3, 0; and.b32 %r4, %r2, %r3;"), []);
    assert_eq!(words("mov.u32 %r3, -1; or.b32 %r4, %r2, %r3;"), []);
    assert_eq!(words("mov.u32 %r3, 1; and.b32 %r4, %r2, %r3;"), [(2, u32::MAX)]);
}

#[test]
fn a_selection_needs_only_what_it_selects() {
    let body = "mov.u32 %r2, 1; selp.b32 %r4, %r2, %r3, %p1;\n\
                @!%p1 bra E; setp.eq.u32 %p2, %r4, 1; @%p2 bra E;\nE:";
    assert_eq!(found(body), []);
    let body = "mov.u32 %r2, 1; selp.b32 %r4, %r2, %r3, %p1;\n\
                setp.eq.u32 %p2, %r4, 1; @%p2 bra E;\nE:";
    assert_eq!(found(body), [(1, 0xffff_ff00)]);
}

#[test]
fn values_that_functions_return() {
    let call = "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; \
                call.uni (r), twice, (a); ld.param.b32 %r2, [r]; }";
    let body = format!("{call}\n{call}\nsetp.eq.u32 %p2, %r2, 6; @%p2 bra E;\nE:");
    assert_eq!(found(&body), []);
}

#[test]
fn a_selection_may_write_registers_of_another_width() {
    for selection in [
        "selp.b32 %rd1, %r1, %r2, %p1;",
        "selp.b64 %r1, %rd1, %rd2, %p1;",
        "selp.b64 {%r1, %r2}, %rd1, %rd2, %p1;",
    ] {
        for unused in
            ["", "mov.u32 %r4, %r5; mov.u32 %r6, %r7;", "mov.u64 %rd4, %rd5; mov.u64 %rd6, %rd7;"]
        {
            let text = format!(
                ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n{unused}\n{selection}\nret;\n}}\n"
            );
            let module = Module::parse(&text).unwrap();
            let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]);
            let options = Options { checks: Checks::all(), ..Options::default() };
            let report = run(&module, &mut Memory::new(1 << 20), &launch, &options);
            assert!(report.is_ok(), "{selection} {report:?}");
        }
    }
}
