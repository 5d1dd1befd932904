//! Products and sums that NVIDIA's assembler may fuse: each case is what ptxas 13 does with the text
//! for sm_90, one FFMA or two instructions.

use simt::Module;

fn contraction(body: &str) -> Option<String> {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n.reg .b64 %rd<4>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b16 %h<9>; .reg .pred %p<3>;\nld.param.u64 %rd1, [a];\n{body}\nret;\n}}\n"
    );
    let module = Module::parse(&text).unwrap();
    let kernel = module.kernel("k").unwrap();
    assert_eq!(kernel.supported(), Ok(()), "{body}");
    kernel.contraction().map(ToString::to_string)
}

#[test]
fn what_the_assembler_fuses_is_told() {
    for body in [
        "mul.f32 %f4, %f1, %f2;\nadd.f32 %f5, %f4, %f3;",
        "mul.f32 %f4, %f1, %f2;\nsub.f32 %f5, %f3, %f4;",
        "mul.f32 %f4, %f1, %f2;\nneg.f32 %f4, %f4;\nadd.f32 %f5, %f3, %f4;",
        "mul.f32 %f4, %f1, %f2;\nmov.f32 %f6, %f4;\nadd.f32 %f5, %f6, %f3;",
        "mul.f64 %d4, %d1, %d2;\nadd.f64 %d5, %d4, %d3;",
        "mul.f16 %h4, %h1, %h2;\nadd.f16 %h5, %h4, %h3;",
        "mul.ftz.f32 %f4, %f1, %f2;\nadd.ftz.f32 %f5, %f4, %f3;",
        "mul.f32 %f4, %f1, %f2;\nadd.sat.f32 %f5, %f4, %f3;",
        "mul.f32 %f4, %f1, %f2;\nbar.sync 0;\nadd.f32 %f5, %f4, %f3;",
        "{ mul.f32 %f4, %f1, %f2;\nadd.f32 %f5, %f4, %f3; }",
    ] {
        assert!(contraction(body).is_some(), "{body}");
    }
    assert_eq!(
        contraction("mul.f32 %f4, %f1, %f2;\nadd.f32 %f5, %f4, %f3;").unwrap(),
        "`mul.f32` at PTX line 8 and `add.f32` at line 9 may become one instruction that rounds once, \
         so that a GPU's result differs from the executor's: write `.rn` on either, or `fma.rn` (with \
         nvcc, -fmad=false or an intrinsic such as __fmul_rn)"
    );
}

#[test]
fn what_the_assembler_leaves_alone_is_not_told() {
    for body in [
        "mul.rn.f32 %f4, %f1, %f2;\nadd.f32 %f5, %f4, %f3;",
        "mul.f32 %f4, %f1, %f2;\nadd.rn.f32 %f5, %f4, %f3;",
        "mul.rz.f32 %f4, %f1, %f2;\nadd.f32 %f5, %f4, %f3;",
        "mul.rn.f16 %h4, %h1, %h2;\nadd.rn.f16 %h5, %h4, %h3;",
        "mul.ftz.f32 %f4, %f1, %f2;\nadd.f32 %f5, %f4, %f3;",
        "mul.sat.f32 %f4, %f1, %f2;\nadd.f32 %f5, %f4, %f3;",
        "mul.f32 %f4, %f1, %f2;\nadd.f32 %f5, %f4, %f4;",
        "mul.f32 %f4, %f1, %f2;\nmov.f32 %f4, %f3;\nadd.f32 %f5, %f4, %f3;",
        "mul.f32 %f4, %f1, %f2;\nsetp.gt.f32 %p1, %f1, %f2;\n@%p1 bra L;\nadd.f32 %f5, %f4, %f3;\nL:",
        "mul.f32 %f4, %f1, %f2;\nsetp.gt.f32 %p1, %f1, %f2;\n@%p1 mul.f32 %f4, %f3, %f2;\nadd.f32 %f5, %f4, %f3;",
        "mul.lo.s32 %f4, %f1, %f2;\nadd.s32 %f5, %f4, %f3;",
    ] {
        assert_eq!(contraction(body), None, "{body}");
    }
}
