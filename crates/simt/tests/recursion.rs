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
    {
        .param .b32 value;
        .param .b32 back;
        st.param.b32 [value], %r2;
        call.uni (back), fibonacci, (value);
        ld.param.b32 %r3, [back];
    }
    add.u32 %r4, %r1, -2;
    {
        .param .b32 value;
        .param .b32 back;
        st.param.b32 [value], %r4;
        call.uni (back), fibonacci, (value);
        ld.param.b32 %r5, [back];
    }
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
    {
        .param .b32 value;
        .param .b32 back;
        st.param.b32 [value], %r3;
        prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (back), %rd1, (value), prototype;
        ld.param.b32 %r2, [back];
    }
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
    {
        .param .b32 value;
        .param .b32 back;
        st.param.b32 [value], %r3;
        prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (back), %rd1, (value), prototype;
        ld.param.b32 %r2, [back];
    }
done:
    st.param.b32 [result], %r2;
    ret;
}
.func (.param .b32 result) for_ever(.param .b32 n)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [n];
    {
        .param .b32 value;
        .param .b32 back;
        st.param.b32 [value], %r1;
        call.uni (back), for_ever, (value);
        ld.param.b32 %r2, [back];
    }
    st.param.b32 [result], %r2;
    ret;
}
.func (.param .b32 result) keeps(.param .b32 n)
{
    .reg .b32 %r<3>;
    .local .align 4 .b8 own[16];
    ld.param.u32 %r1, [n];
    st.local.u32 [own], %r1;
    {
        .param .b32 value;
        .param .b32 back;
        st.param.b32 [value], %r1;
        call.uni (back), keeps, (value);
        ld.param.b32 %r2, [back];
    }
    st.param.b32 [result], %r2;
    ret;
}
";

/// An entry that stores what a function gives for the lane's number modulo 13.
fn entry(name: &str, call: &str) -> String {
    format!(
        ".visible .entry k_{name}(.param .u64 target)
{{
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    rem.u32 %r2, %r1, 13;
    {{
        .param .b32 value;
        .param .b32 back;
        {call}
    }}
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
    let call = format!(
        "st.param.b32 [value], %r2;\ncall.uni (back), {name}, (value);\nld.param.b32 %r3, [back];"
    );
    entry(name, &call)
}

fn computed(name: &str, entry: &str) -> Result<Vec<u32>, Error> {
    let module = Module::parse(&format!("{PTX}{entry}")).unwrap();
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
fn recursion_without_end_and_arrays_of_recursive_functions_are_said() {
    let error = computed("for_ever", &by_memory("for_ever")).unwrap_err().to_string();
    assert!(
        error.contains("1024 recursive calls are under way") && error.contains("call.uni"),
        "{error}"
    );
    let error = computed("keeps", &by_memory("keeps")).unwrap_err().to_string();
    assert!(error.contains("recursion of `keeps`, which has an array in local memory"), "{error}");
}
