//! Wrong uses of the macros do not compile, with a message at the right place.

#[test]
fn do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
