//! Declarations as the PTX ISA allows them (sections "Variables" and "Vectors as Operands"), and what a kernel finds there.

use simt::{Launch, Memory, Module, Options, run};

/// The words that a kernel of one thread stores at `[p]`.
fn words<const N: usize>(outside: &str, body: &str) -> [u32; N] {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{outside}\n\
        .visible .entry k(.param .u64 p)\n{{\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\n\
        ld.param.u64 %rd1, [p];\n{body}\nret;\n}}\n"
    );
    let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut memory = Memory::new(1 << 24);
    let buffer = memory.allocate(4 * N as u64).unwrap();
    let launch = Launch::new("k", [1, 1, 1], [1, 1, 1]).u64(buffer);
    run(&module, &mut memory, &launch, &Options::default())
        .unwrap_or_else(|e| panic!("{e}: {text}"));
    let mut bytes = vec![0; 4 * N];
    memory.read(buffer, &mut bytes).unwrap();
    let mut words = bytes.chunks_exact(4).map(|one| u32::from_le_bytes(one.try_into().unwrap()));
    std::array::from_fn(|_| words.next().unwrap())
}

/// The first words of a variable that begins the module.
fn initial<const N: usize>(declaration: &str, name: &str) -> [u32; N] {
    let load = |at| format!("ld.u32 %r1, [{name}+{}]; st.u32 [%rd1+{}], %r1;\n", 4 * at, 4 * at);
    words(declaration, &(0..N).map(load).collect::<String>())
}

#[test]
fn vector_registers_move_load_store_and_give_components() {
    let declared = ".reg .v4 .u32 v; .reg .v2 .u32 w, u;\n";
    let of = |body: &str| words::<4>("", &format!("{declared}{body}"));
    assert_eq!(of("mov.v4.u32 v, {1, 2, 3, 4}; st.v4.u32 [%rd1], v;"), [1, 2, 3, 4]);
    let halves = "mov.v2.u32 w, {5, 6}; mov.v2.u32 u, w; mov.u32 u.y, w.r;\n\
        st.v2.u32 [%rd1], w; st.v2.u32 [%rd1+8], u;";
    assert_eq!(of(halves), [5, 6, 5, 5]);
    // Both are read before one is written.
    let turned = "mov.v2.u32 w, {7, 8}; mov.v2.u32 w, {w.y, w.x}; mov.v2.u32 {%r1, %r2}, w;\n\
        mov.v2.u32 {%r2, %r1}, {%r1, %r2}; mov.v4.u32 v, {w.x, w.y, %r1, %r2}; st.v4.u32 [%rd1], v;";
    assert_eq!(of(turned), [8, 7, 7, 8]);
    let through = "mov.v4.u32 v, {1, 2, 3, 4}; st.v4.u32 [%rd1], v; ld.v2.u32 w, [%rd1+8];\n\
        add.u32 v.w, w.x, w.y; mov.b64 %rd2, w; mov.b64 u, %rd2; add.u32 v.x, u.x, v.a;\n\
        st.v4.f32 [%rd1], v;";
    assert_eq!(of(through), [10, 2, 3, 7]);
}

#[test]
fn longs_and_bytes_are_vectors_too() {
    let longs = ".reg .v2 .b64 v; mov.v2.b64 v, {1, 0x200000003}; st.v2.b64 [%rd1], v;";
    assert_eq!(words::<4>("", longs), [1, 0, 3, 2]);
    let bytes = "mov.u32 %r1, 0x04030201; st.u32 [%rd1], %r1; .reg .v4 .u8 v; ld.v4.u8 v, [%rd1];\n\
        cvt.u32.u8 %r2, v.z; st.u32 [%rd1], %r2;";
    assert_eq!(words::<1>("", bytes), [3]);
}

#[test]
fn numbered_names_are_variables_in_every_state_space() {
    for space in ["local", "shared", "param"] {
        let store = |at| format!("st.{space}.u32 [t{at}], {};", at + 1);
        let load = |at| format!("ld.{space}.u32 %r1, [t{at}]; st.u32 [%rd1+{}], %r1;", 4 * at);
        let stores: String = (0..3).map(store).collect();
        let loads: String = (0..3).map(load).collect();
        let body = format!(".{space} .align 8 .u32 t<3>;\n{stores}{loads}");
        assert_eq!(words::<3>("", &body), [1, 2, 3], "{space}");
    }
    let module = "st.global.u32 [g0], 7; st.global.u32 [g2], 9; ld.global.u32 %r1, [g0]; st.u32 [%rd1], %r1;";
    assert_eq!(words::<1>(".global .u32 g<3>;", module), [7]);
}

#[test]
fn numbered_parameters_are_handed_to_a_function() {
    let sum = ".func (.param .u32 s) sum(.param .u64 a, .param .u64 b)\n{\n.reg .u64 %x<3>; .reg .u32 %y;\n\
        ld.param.u64 %x0, [a]; ld.param.u64 %x1, [b]; sub.u64 %x2, %x0, %x1;\n\
        cvt.u32.u64 %y, %x2; st.param.u32 [s], %y; ret;\n}";
    let call = "{ .param .u64 %P<2>; .param .u32 s; st.param.u64 [%P0], 9; st.param.u64 [%P1], 2;\n\
        call (s), sum, (%P0, %P1); ld.param.u32 %r1, [s]; }\nst.u32 [%rd1], %r1;";
    assert_eq!(words::<1>(sum, call), [7]);
}

#[test]
fn rows_in_braces_that_are_short_end_in_zeros() {
    assert_eq!(
        initial::<6>(".global .s32 x[3][2] = {{1, 2}, {3}, {4, 5}};", "x"),
        [1, 2, 3, 0, 4, 5]
    );
    assert_eq!(initial::<6>(".global .s32 x[][3] = {{1}, {2, 3}};", "x"), [1, 0, 0, 2, 3, 0]);
    assert_eq!(initial::<4>(".global .s32 x[4] = {1, 2};", "x"), [1, 2, 0, 0]);
    assert_eq!(initial::<4>(".global .s32 x[2*1+1][2] = {1, 2, 3};", "x"), [1, 2, 3, 0]);
    let vectors = ".global .v2 .u32 x[2] = {{1}, {2, 3}};";
    assert_eq!(initial::<4>(vectors, "x"), [1, 0, 2, 3]);
    for (text, end) in [
        (".global .s32 x[2][2] = {{1, 2, 3}};", "more than the 2 values that have room"),
        (".global .s32 x[2][1<<30] = {{1}, {2}};", "expected fewer elements before it, found `{`"),
        (".global .s32 x[-1];", "a dimension is an integer, and not negative"),
    ] {
        let text = format!(".version 8.0\n.target sm_90\n{text}");
        let error = Module::parse(&text).unwrap_err().to_string();
        assert!(error.ends_with(end), "{error}");
    }
}

#[test]
fn a_vector_variable_is_aligned_as_a_whole() {
    let module = Module::parse(
        ".version 8.0\n.target sm_90\n.global .u8 a; .global .v4 .f32 b; .global .v2 .u16 c;\n\
        .visible .entry k(.param .u32 n, .param .v4 .f32 v) { ret; }",
    );
    let module = module.unwrap();
    let alignments: Vec<u64> = module.variables().iter().map(|one| one.alignment).collect();
    assert_eq!(alignments, [1, 16, 4]);
    let offsets: Vec<u32> = module.kernels()[0].parameters.iter().map(|one| one.offset).collect();
    assert_eq!(offsets, [0, 16]);
}

#[test]
fn attributes_and_samplers_are_read() {
    let declared = ".global .attribute(.unified(19, 95)) .f32 f;\n\
        .global .samplerref s = { addr_mode_0 = clamp_to_edge, filter_mode = linear, force_unnormalized_coords = 1 };\n\
        .global .attribute(.managed) .u32 m = 5;";
    assert_eq!(initial::<1>(declared, "m"), [5]);
}
