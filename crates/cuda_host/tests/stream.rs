//! The device's stream does not wait for the legacy default stream: cust, asked for such a stream, drops the flag.

use cuda_host::{Choice, Gpu, Image, testing};

/// A kernel that does nothing, as the driver takes it.
static IMAGES: &[Image] = {
    const PTX: &str =
        ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry nothing()\n{\nret;\n}\n";
    // SAFETY: no kernel has a record.
    &[unsafe { Image::new(70, PTX, &[], "by hand", "unknown") }]
};

#[test]
fn the_stream_is_non_blocking() {
    let _machine = testing::exclusive();
    let gpu = Gpu::open(&Choice::Virtual("h200".to_owned()), IMAGES).expect("it starts everywhere");
    let mut flags = 0;
    // SAFETY: a stream that lives and a local to write to.
    let code =
        unsafe { cuda_driver::api::cuStreamGetFlags(gpu.stream().as_inner().cast(), &mut flags) };
    assert_eq!((code, flags), (cuda_driver::ReturnCode::SUCCESS, 1), "CU_STREAM_NON_BLOCKING");
}
