//! Recursion: every call of a function that is under way has registers and parameters of its own, lane by lane.

use simt::{Error, Launch, Memory, Module, Options, run};

/// Fibonacci numbers by two calls, factorials by a guarded call, and evenness by two functions that call each other
/// through a table of pointers: what rustc makes of `dyn Trait`.
const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.func (.param .b32 result) fibonacci(.param .b32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    ld.param.u32 %r1, [n];
    setp.lt.u32 %p1, %r1, 2;
    @%p1 bra small;
    add.u32 %r2, %r1, -1;
    CALL %r3 = fibonacci(%r2)
    add.u32 %r4, %r1, -2;
    CALL %r5 = fibonacci(%r4)
    add.u32 %r6, %r3, %r5;
    st.param.b32 [result], %r6;
    ret;
small:
    st.param.b32 [result], %r1;
    ret;
}
.func (.reg .b32 result) factorial(.reg .b32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    mov.u32 %r2, 1;
    setp.gt.u32 %p1, n, 1;
    add.u32 %r1, n, -1;
    @%p1 call (%r2), factorial, (%r1);
    @!%p1 mov.u32 %r2, 1;
    @!%p1 mov.u32 n, 1;
    mul.lo.u32 result, %r2, n;
    ret;
}
.func (.param .b32 result) odd(.param .b32 n);
.func (.param .b32 result) even(.param .b32 n);
.global .align 8 .u64 table[2] = {even, odd};
.func (.param .b32 result) even(.param .b32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u32 %r1, [n];
    mov.u32 %r2, 1;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra done;
    add.u32 %r3, %r1, -1;
    ld.global.u64 %rd1, [table+8];
    CALL %r2 = %rd1(%r3)
done:
    st.param.b32 [result], %r2;
    ret;
}
.func (.param .b32 result) odd(.param .b32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u32 %r1, [n];
    mov.u32 %r2, 0;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra done;
    add.u32 %r3, %r1, -1;
    ld.global.u64 %rd1, [table];
    CALL %r2 = %rd1(%r3)
done:
    st.param.b32 [result], %r2;
    ret;
}
.func (.param .b32 result) for_ever(.param .b32 n)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [n];
    CALL %r2 = for_ever(%r1)
    st.param.b32 [result], %r2;
    ret;
}
.func (.param .b32 result) keeps(.param .b32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<3>;
    .local .align 8 .b8 own[40];
    ld.param.u32 %r1, [n];
    mov.u64 %rd1, own;
    cvta.local.u64 %rd2, %rd1;
    st.local.u32 [own+36], %r1;
    mov.u32 %r2, 0;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra done;
    add.u32 %r3, %r1, -1;
    CALL %r2 = keeps(%r3)
done:
    ld.u32 %r4, [%rd2+36];
    add.u32 %r5, %r2, %r4;
    st.param.b32 [result], %r5;
    ret;
}
.func (.param .b32 result) writes(.param .b64 to, .param .b32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<3>;
    .local .align 4 .b8 own[4];
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [n];
    st.u32 [%rd1], %r1;
    st.local.u32 [own], %r1;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra done;
    mov.u64 %rd2, own;
    cvta.local.u64 %rd2, %rd2;
    add.u32 %r3, %r1, -1;
    CALL %r2 = writes(%rd2, %r3)
done:
    ld.local.u32 %r4, [own];
    st.param.b32 [result], %r4;
    ret;
}
.func (.param .b32 result) starts(.param .b32 n)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<3>;
    .local .align 4 .b8 own[4];
    ld.param.u32 %r1, [n];
    mov.u64 %rd2, own;
    cvta.local.u64 %rd2, %rd2;
    CALL %r2 = writes(%rd2, %r1)
    st.param.b32 [result], %r2;
    ret;
}
.func (.param .b32 result) takes(.param .b32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.u32 %r1, [n];
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
    stacksave.u64 %rd7;
again:
    add.u32 %r3, %r3, 1;
    shl.b32 %r4, %r3, 2;
    cvt.u64.u32 %rd1, %r4;
    alloca.u64 %rd2, %rd1, 16;
    and.b64 %rd3, %rd2, 15;
    cvt.u32.u64 %r5, %rd3;
    cvta.local.u64 %rd4, %rd2;
    add.u64 %rd4, %rd4, %rd1;
    st.u32 [%rd4+-4], %r3;
    st.local.u32 [%rd2], %r3;
    ld.u32 %r6, [%rd4+-4];
    add.u32 %r2, %r2, %r6;
    add.u32 %r2, %r2, %r5;
    setp.lt.u32 %p1, %r3, %r1;
    @%p1 bra again;
    stackrestore.u64 %rd7;
    mov.u64 %rd8, 8;
    alloca.u64 %rd2, %rd8;
    st.local.u32 [%rd2+4], %r2;
    ld.local.u32 %r2, [%rd2+4];
    st.param.b32 [result], %r2;
    ret;
}
.func (.param .b32 result) takes_all(.param .b32 n)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [n];
again:
    alloca.u32 %r2, 4096;
    bra again;
}
";

/// The text with each `CALL result = function(arguments)` written out: by memory and, through a pointer, by a prototype.
fn with_calls(text: &str) -> String {
    let line = |line: &str| match line
        .trim()
        .strip_prefix("CALL ")
        .map(|it| it.split([' ', '=', '(', ',', ')']))
    {
        None => format!("{line}\n"),
        Some(words) => {
            let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            let [back, function, values @ ..] = &words[..] else { panic!("{line}") };
            let (mut declared, mut stored, mut names) = (String::new(), String::new(), Vec::new());
            for (name, value) in ["first", "second"].iter().zip(values) {
                let bits = if value.starts_with("%rd") { 64 } else { 32 };
                declared += &format!(".param .b{bits} {name}; ");
                stored += &format!("st.param.b{bits} [{name}], {value}; ");
                names.push(*name);
            }
            let names = names.join(", ");
            let call = match function.starts_with('%') {
                true => format!(
                    "p: .callprototype (.param .b32 _) _ (.param .b32 _); call (back), {function}, ({names}), p;"
                ),
                false => format!("call.uni (back), {function}, ({names});"),
            };
            format!(
                "{{ {declared} .param .b32 back; {stored} {call} ld.param.b32 {back}, [back]; }}\n"
            )
        }
    };
    text.lines().map(line).collect()
}

/// An entry that stores what a function gives for the lane's number modulo 13.
fn entry(name: &str, call: &str) -> String {
    format!(
        ".visible .entry k_{name}(.param .u64 target)
{{
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    rem.u32 %r2, %r1, 13;
    {call}
    ld.param.u64 %rd1, [target];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    ret;
}}
"
    )
}

fn by_memory(name: &str) -> String {
    entry(name, &format!("CALL %r3 = {name}(%r2)"))
}

fn computed(name: &str, entry: &str) -> Result<Vec<u32>, Error> {
    let module = Module::parse(&with_calls(&format!("{PTX}{entry}"))).unwrap();
    let mut memory = Memory::default();
    let target = memory.allocate(4 * 64).unwrap();
    let launch = Launch::new(&format!("k_{name}"), [1, 1, 1], [64, 1, 1]).address(target);
    let options = Options { checks: simt::Checks::all(), ..Options::default() };
    let report = run(&module, &mut memory, &launch, &options)?;
    assert_eq!(report.findings, []);
    let mut bytes = [0; 4 * 64];
    memory.read(target, &mut bytes).unwrap();
    Ok(bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect())
}

fn each_lane(of: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..64).map(|lane| of(lane % 13)).collect()
}

#[test]
fn lanes_call_as_deep_as_each_of_them_needs() {
    fn fibonacci(n: u32) -> u32 {
        if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
    }
    assert_eq!(computed("fibonacci", &by_memory("fibonacci")), Ok(each_lane(fibonacci)));
    let by_register = entry("factorial", "call (%r3), factorial, (%r2);");
    assert_eq!(computed("factorial", &by_register), Ok(each_lane(|n| (1..=n).product())));
}

#[test]
fn functions_call_each_other_through_pointers() {
    assert_eq!(computed("even", &by_memory("even")), Ok(each_lane(|n| u32::from(n % 2 == 0))));
}

#[test]
fn recursion_without_end_is_said() {
    let error = computed("for_ever", &by_memory("for_ever")).unwrap_err().to_string();
    assert!(
        error.contains("1024 recursive calls are under way") && error.contains("call.uni"),
        "{error}"
    );
}

#[test]
fn each_call_has_arrays_of_its_own() {
    let sums = each_lane(|n| n * (n + 1) / 2);
    assert_eq!(computed("keeps", &by_memory("keeps")), Ok(sums));
    // The next call writes into the array of the one before it, to which it has a pointer.
    let written = each_lane(|n| n.saturating_sub(1));
    assert_eq!(computed("starts", &by_memory("starts")), Ok(written));
}

#[test]
fn memory_of_the_stack_is_aligned_and_given_back() {
    let sums = each_lane(|n| (1..=n.max(1)).sum());
    assert_eq!(computed("takes", &by_memory("takes")), Ok(sums));
    let error = computed("takes_all", &by_memory("takes_all")).unwrap_err().to_string();
    assert!(error.contains("a thread's stack would have") && error.contains("alloca"), "{error}");
}

#[test]
fn an_array_of_a_new_call_is_unwritten() {
    let text = format!("{PTX}{}", by_memory("keeps"));
    let text = text.replace("    st.local.u32 [own+36], %r1;\n", "");
    let module = Module::parse(&with_calls(&text)).unwrap();
    let mut memory = Memory::default();
    let target = memory.allocate(4 * 64).unwrap();
    let launch = Launch::new("k_keeps", [1, 1, 1], [64, 1, 1]).address(target);
    let options = Options { checks: simt::Checks::all(), ..Options::default() };
    let findings = run(&module, &mut memory, &launch, &options).unwrap().findings;
    assert_eq!(findings[0].hazard, simt::Hazard::UninitializedLocal);
}
