//! Launches with wrong arguments do not compile.

#[test]
fn wrong_arguments_do_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.pass("typed_launches/right.rs");
    for wrong in ["wrong_count", "wrong_element", "const_for_mut", "wrong_scalar", "wrong_name"] {
        cases.compile_fail(format!("typed_launches/{wrong}.rs"));
    }
}
