//! The part of L2 that is set aside, and windows that are kept there, on a device with a small L2.

mod support;

use cust::launch;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::stream::Stream;
use cust_ext::l2::{
    AccessPolicyWindow, AccessProperty, AccessWindow, PersistingLimit, WindowPolicy,
};
use cust_ext::launch::Launch;
use virtual_gpu::{Options, Profile};

/// Each thread reads four words of its own, and one that lies at its number in `hot` from `mask + 1` words on again.
const PTX: &str = r#"
.version 7.8
.target sm_70
.address_size 64

.visible .entry slide(.param .u64 hot, .param .u64 streamed, .param .u32 mask)
{
    .reg .pred %p<2>;
    .reg .b32 %r<14>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [hot];
    ld.param.u64 %rd2, [streamed];
    ld.param.u32 %r1, [mask];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    cvta.to.global.u64 %rd3, %rd2;
    mul.wide.u32 %rd4, %r5, 16;
    add.s64 %rd4, %rd3, %rd4;
    ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd4];
    cvta.to.global.u64 %rd5, %rd1;
    and.b32 %r10, %r5, %r1;
    mul.wide.u32 %rd6, %r10, 4;
    add.s64 %rd6, %rd5, %rd6;
    ld.global.cg.u32 %r11, [%rd6];
    add.s32 %r12, %r11, %r6;
    setp.ne.u32 %p1, %r12, 0;
    @%p1 st.global.u32 [%rd4], %r12;
    ret;
}
"#;

const L2: u64 = 1 << 20;
const SET_ASIDE: usize = 1 << 19;
const BLOCK: u32 = 256;
const THREADS: u32 = 1 << 19;
const STREAMED: u64 = 16 * THREADS as u64;

/// Returns what a launch asks of memory, in bytes.
fn bytes(slide: &Slide, stream: &Stream, words: usize) -> u64 {
    bytes_of_blocks(slide, stream, words, THREADS / BLOCK)
}

/// Returns what a launch of so many blocks asks of memory, in bytes.
fn bytes_of_blocks(slide: &Slide, stream: &Stream, words: usize, grid: u32) -> u64 {
    let function = slide.module.get_function("slide").unwrap();
    let mask = words as u32 - 1;
    let (hot, streamed) = (slide.hot.as_device_ptr(), slide.streamed.as_device_ptr());
    virtual_gpu::launches();
    // SAFETY: the kernel takes two pointers and a mask; the arrays have `mask + 1` and four words per thread.
    unsafe { launch!(function<<<grid, BLOCK, 0, stream>>>(hot, streamed, mask)).unwrap() };
    bytes_of_launch(stream)
}

/// Returns what a launch asks of memory whose attribute makes the hot words persist.
fn bytes_in_window(slide: &Slide, stream: &Stream, words: usize) -> u64 {
    let function = slide.module.get_function("slide").unwrap();
    let (mut hot, mut streamed) = (slide.hot.as_device_ptr(), slide.streamed.as_device_ptr());
    let mut mask = words as u32 - 1;
    let window =
        AccessPolicyWindow::over(&slide.hot.index(0..words), WindowPolicy::PERSIST).unwrap();
    let launch = Launch { window: Some(window), ..Launch::new(THREADS / BLOCK, BLOCK) };
    let arguments = [(&raw mut hot).cast(), (&raw mut streamed).cast(), (&raw mut mask).cast()];
    virtual_gpu::launches();
    // SAFETY: the arguments are as in `bytes`, and all lives until the launch has ended.
    unsafe { launch.run(&function, stream, &arguments).unwrap() };
    bytes_of_launch(stream)
}

/// Returns what the only launch since the last look asked of memory, in bytes.
fn bytes_of_launch(stream: &Stream) -> u64 {
    stream.synchronize().unwrap();
    let launches = virtual_gpu::launches();
    launches[0].estimate.as_ref().unwrap().dram_read_bytes
}

struct Slide {
    module: Module,
    hot: DeviceBuffer<u32>,
    streamed: DeviceBuffer<u32>,
}

/// Returns what the second launch on a window of so many bytes asks of memory beyond what it streams.
fn hot_bytes(slide: &Slide, bytes_of_window: usize, ratio: f32) -> u64 {
    let stream = cust_ext::stream::non_blocking(None).unwrap();
    let words = bytes_of_window / 4;
    let memory = slide.hot.index(0..words);
    let policy = WindowPolicy {
        hit_ratio: ratio,
        hit: AccessProperty::Persisting,
        miss: AccessProperty::Streaming,
    };
    let _window = AccessWindow::set(&stream, &memory, policy).unwrap();
    bytes(slide, &stream, words);
    bytes(slide, &stream, words) - STREAMED
}

#[test]
fn a_window_is_kept_while_it_fits_what_is_set_aside() {
    let profile = Profile {
        name: "small L2".to_owned(),
        l2_bytes: L2,
        persisting_l2_bytes: SET_ASIDE as u64,
        ..Profile::named("h200").unwrap()
    };
    let _context = support::open(profile, Options::default());
    // What the host copies stays as long as L2 has not been filled.
    let copied = vec![0; 4 * 32 * BLOCK as usize];
    let mut early = Slide {
        module: Module::from_ptx(PTX, &[]).unwrap(),
        hot: DeviceBuffer::from_slice(&[0]).unwrap(),
        streamed: DeviceBuffer::from_slice(&copied).unwrap(),
    };
    let stream = cust_ext::stream::non_blocking(None).unwrap();
    assert_eq!(bytes_of_blocks(&early, &stream, 1, 32), 0, "what was copied to an empty L2");
    virtual_gpu::empty_l2();
    early.streamed.copy_from(&copied).unwrap();
    let asked = bytes_of_blocks(&early, &stream, 1, 32);
    assert_eq!(asked, 64 + u64::from(16 * BLOCK * 32), "what was copied to a full one");

    let slide = Slide {
        module: Module::from_ptx(PTX, &[]).unwrap(),
        hot: DeviceBuffer::zeroed(1 << 18).unwrap(),
        streamed: DeviceBuffer::zeroed(4 * THREADS as usize).unwrap(),
    };
    // Each hot byte is read once per sweep, and in between five times as much is asked of L2.
    let all = 4 * u64::from(THREADS);
    let sizes = [SET_ASIDE / 4, SET_ASIDE / 2, SET_ASIDE, 2 * SET_ASIDE];
    let limit = PersistingLimit::set(SET_ASIDE).unwrap();
    assert_eq!(limit.bytes(), SET_ASIDE);
    drop(limit);
    let sixteenth = L2 as usize / 16;
    for (asked, got) in [(0, 0), (1, 1), (sixteenth, 1), (sixteenth + 1, 2)] {
        assert_eq!(PersistingLimit::set(asked).unwrap().bytes(), got * sixteenth);
    }
    let _limit = PersistingLimit::set(SET_ASIDE).unwrap();
    for size in sizes {
        assert_eq!(hot_bytes(&slide, size, 0.0), all, "{size} bytes that are not kept");
        let kept = hot_bytes(&slide, size, 1.0);
        assert_eq!(kept, if size <= SET_ASIDE { 0 } else { all }, "{size} bytes that are kept");
        // The part that fits is kept, whatever the window.
        let part = (SET_ASIDE as f64 / size as f64).min(1.0);
        let (tuned, expected) = (hot_bytes(&slide, size, part as f32), (1.0 - part) * all as f64);
        approx::assert_abs_diff_eq!(tuned as f64, expected, epsilon = 0.01 * all as f64);
    }

    // What is there is there for every launch, until it is given up.
    let stream = cust_ext::stream::non_blocking(None).unwrap();
    let words = SET_ASIDE / 4;
    let memory = slide.hot.index(0..words);
    let window = AccessWindow::set(&stream, &memory, WindowPolicy::PERSIST).unwrap();
    assert_eq!(bytes(&slide, &stream, words), STREAMED + SET_ASIDE as u64, "the first launch");
    assert_eq!(bytes(&slide, &stream, words), STREAMED, "the second");
    drop(window);
    let _window = AccessWindow::set(&stream, &memory, WindowPolicy::PERSIST).unwrap();
    assert_eq!(bytes(&slide, &stream, words), STREAMED + SET_ASIDE as u64, "after the reset");
    drop(_window);

    // A launch has a window of its own, whatever its stream has.
    for expected in [STREAMED + SET_ASIDE as u64, STREAMED] {
        assert_eq!(bytes_in_window(&slide, &stream, words), expected, "a window of the launch");
    }
    assert!(bytes(&slide, &stream, words) > STREAMED, "the next launch on the stream has none");

    // What the last launch used is still there, unless it used more than there is room for. The hot word persists.
    let small = |blocks| bytes_of_blocks(&slide, &stream, 1, blocks);
    let all = |blocks| u64::from(16 * BLOCK * blocks);
    assert_eq!(small(32), all(32), "after a launch that used more");
    assert_eq!(small(32), 0, "after the same launch");
    assert_eq!(small(64), all(64) - all(32), "after half of it");
    virtual_gpu::empty_l2();
    assert_eq!(small(32), all(32), "after other data");
    assert_eq!(small(256), all(256) - all(32), "more than the rest has room for, some of it there");
    assert_eq!(small(32), all(32), "after that");
}
