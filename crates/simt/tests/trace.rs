//! The trace of a warp: each instruction that it ran, in its order, with the lanes and registers, until the launch fails.

use simt::{Launch, Memory, Module, Options, Step, Trace, Watched, run};
use std::sync::Arc;

/// Lanes from 16 on jump over the addition; then each stores.
const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    and.b32 %r2, %r1, 31;
    setp.ge.u32 %p1, %r2, 16;
    @%p1 bra store;
    add.u32 %r1, %r1, 100;
store:
    st.global.u32 [%rd3], %r1;
    ret;
}
";

/// Returns what a warp of two blocks of 64 threads did, when memory has this many bytes.
fn trace(watched: Watched, bytes: u64, most: usize) -> (Vec<Step>, bool) {
    let module = Module::parse(PTX).unwrap();
    let mut memory = Memory::default();
    let out = memory.allocate(bytes).unwrap();
    let trace = Arc::new(Trace::new(watched, most));
    let options = Options { trace: Some(trace.clone()), ..Options::default() };
    let launch = Launch::new("k", [2, 1, 1], [64, 1, 1]).address(out);
    let ran = run(&module, &mut memory, &launch, &options);
    (trace.steps(), ran.is_ok())
}

#[test]
fn each_instruction_of_one_warp_is_there_with_its_lanes_and_registers() {
    let (steps, ran) = trace(Watched { block: 1, warp: 1 }, 256, 100);
    assert!(ran);
    let lines: Vec<(u32, u32)> = steps.iter().map(|step| (step.ptx_line, step.lanes)).collect();
    let all = u32::MAX;
    let (low, high) = (0xffff, 0xffff_0000);
    let expected = [
        (7, all),
        (8, all),
        (9, all),
        (10, all),
        (11, all),
        (12, all),
        (13, high),
        (14, low),
        (16, all),
        (17, all),
    ];
    assert_eq!(lines, expected);
    let written = |step: usize| &steps[step].registers[0];
    assert_eq!(written(1).values, std::array::from_fn(|lane| 32 + lane as u64), "%tid.x");
    assert_eq!((written(2).bits, written(2).values[31]), (64, 4 * 63));
    assert_eq!((written(5).bits, written(5).values[15], written(5).values[16]), (1, 0, 1));
    assert_eq!((written(7).values[15], written(7).values[16]), (147, 48), "as it is afterwards");
    let [address, value] = &steps[8].registers[..] else { panic!("a store reads two") };
    assert_eq!((address.bits, value.bits, value.values[0]), (64, 32, 132));

    assert_eq!(trace(Watched { block: 1, warp: 2 }, 256, 100).0, [], "there is no such warp");
    assert_eq!(trace(Watched { block: 1, warp: 1 }, 256, 3).0, steps[..3], "there is no more room");
}

#[test]
fn a_launch_that_fails_is_traced_up_to_what_failed() {
    let (steps, ran) = trace(Watched { block: 0, warp: 1 }, 128, 100);
    assert!(!ran);
    assert_eq!(steps.last().map(|step| step.ptx_line), Some(16));
}
