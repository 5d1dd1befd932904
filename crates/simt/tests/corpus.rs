//! Kernels compiled by nvcc from our CUDA C++ (`tests/corpus/*.cu`), their whole output compared with the host's.
//!
//! Regenerate the PTX with `nvcc -ptx -arch=sm_90 -lineinfo` of CUDA 13.0.

mod parallel;

use crate::support::{Kernel, floats, ints, longs, pack};
use simt::{Checks, Launch, Memory, Module, Options, run};

const N: usize = 1000;

fn map<I: Copy, O>(input: &[I], f: impl Fn(usize, I) -> O) -> Vec<O> {
    input.iter().enumerate().map(|(i, x)| f(i, *x)).collect()
}

#[test]
fn integers() {
    let file = "arithmetic";
    let a = ints(N);
    let u: Vec<u32> = a.iter().map(|x| *x as u32).collect();
    Kernel::new(file, "int_divide").maps(&a, |i, a| {
        let b = (i % 37) as i32 - 18;
        let b = if b == 0 { 7 } else { b };
        a.wrapping_div(b).wrapping_add(3i32.wrapping_mul(a.wrapping_rem(b)))
    });
    Kernel::new(file, "unsigned_divide")
        .maps(&u, |i, a| (a / 7).wrapping_add(a % 1000).wrapping_add(a / (i as u32 + 1)));
    Kernel::new(file, "multiply_high").maps(&u, |_, a| {
        let high = ((a as u64 * 0x9e37_79b9) >> 32) as u32;
        high ^ ((a as i32 as i64 * -12345) >> 32) as u32
    });
    Kernel::new(file, "bits").maps(&u, |_, a| {
        let ffs = if a == 0 { 0 } else { a.trailing_zeros() + 1 };
        let both = (a as u64) | (!a as u64) << 32;
        let permuted = [5u32, 7, 1, 3]
            .iter()
            .enumerate()
            .fold(0u32, |r, (i, s)| r | ((both >> (8 * s)) as u8 as u32) << (8 * i));
        a.count_ones()
            .wrapping_add(a.leading_zeros() << 6)
            .wrapping_add(ffs << 12)
            .wrapping_add(a.reverse_bits() >> 14)
            .wrapping_add(permuted)
    });
    Kernel::new(file, "shifts").maps(&u, |i, a| {
        let s = i as u32 & 31;
        let left = (((!a as u64) << 32 | a as u64) << s >> 32) as u32;
        let right = (((a.wrapping_mul(3) as u64) << 32 | a as u64) >> ((i as u32 + 7) & 31)) as u32;
        (a << s) ^ (a >> (31 - s)) ^ ((a as i32) >> s) as u32 ^ left ^ right
    });
    Kernel::new(file, "min_max").maps(&a, |_, a| a.clamp(-1_000_000, 1_000_000) + (a % 1000).abs());
    Kernel::new(file, "dot4").maps(&a, |i, x| {
        let y = a[(i + 1) % N];
        (0..4).fold(i as i32, |sum, k| {
            sum.wrapping_add((x >> (8 * k)) as i8 as i32 * (y >> (8 * k)) as i8 as i32)
        })
    });
}

#[test]
fn long_integers() {
    let file = "arithmetic";
    let a = longs(N);
    let u: Vec<u64> = a.iter().map(|x| *x as u64).collect();
    Kernel::new(file, "long_divide").maps(&a, |i, a| {
        let b = i as i64 * 77_777_777 - 5;
        (a / b).wrapping_add(a % b)
    });
    Kernel::new(file, "multiply_high64").check(
        &u,
        &map(&u, |_, a| ((a as u128 * 0x9e37_79b9_7f4a_7c15) >> 64) as u64)
            .iter()
            .zip(&u)
            .map(|(h, a)| h.wrapping_add(a.wrapping_mul(3)))
            .collect::<Vec<u64>>(),
    );
    Kernel::new(file, "bits64").maps(&u, |_, a| {
        let ffs = if a == 0 { 0 } else { a.trailing_zeros() as u64 + 1 };
        (a.count_ones() as u64 + ((a.leading_zeros() as u64) << 8) + (ffs << 16))
            .wrapping_add(a.reverse_bits() >> 24)
    });
    Kernel::new(file, "rotate64").maps(&u, |i, a| {
        let s = i & 63;
        (a << s) | (a >> ((64 - s) & 63))
    });
    Kernel::new(file, "convert_ints").maps(&a, |_, a| {
        (a as i8 as i64)
            + ((a >> 8) as u8 as i64) * 3
            + ((a >> 16) as i16 as i64) * 5
            + ((a >> 3) as i32 as i64)
    });
    let bytes: Vec<u8> = a.iter().map(|x| *x as u8).collect();
    Kernel::new(file, "bytes")
        .maps(&bytes, |i, x| (x as u32 * 3 + (bytes[(i + 1) % N] as u32 >> 2)) as u8);
    let shorts: Vec<i16> = a.iter().map(|x| *x as i16).collect();
    Kernel::new(file, "shorts")
        .maps(&shorts, |i, x| (x as i32 * 7 - shorts[(i + 5) % N] as i32 / 3) as i16);
}

#[test]
fn floating_point() {
    let file = "arithmetic";
    let a = floats(N);
    Kernel::new(file, "float_ops")
        .maps(&a, |_, a| (a * 1.7 + -0.3) / a.mul_add(a, 1.0) + a.abs().sqrt());
    Kernel::new(file, "float_fma").maps(&a, |_, a| a.mul_add(a, a.mul_add(-3.25, 0.125)));
    Kernel::new(file, "float_round").maps(&a, |_, a| {
        let first = 10f32.mul_add(a.ceil(), a.floor());
        let second = 100f32.mul_add(a.trunc(), first);
        1000f32.mul_add(a.round_ties_even(), second)
    });
    Kernel::new(file, "float_minmax").maps(&a, |i, x| x.min(0.5) + x.max(a[(i + 1) % N]));
    let doubles: Vec<f64> = a.iter().map(|x| *x as f64 * 1.000_000_1).collect();
    Kernel::new(file, "double_ops")
        .maps(&doubles, |_, a| a.mul_add(a, -2.0) / a.mul_add(a, 3.0) + a.abs().sqrt());
    Kernel::new(file, "convert_floats").maps(&a, |_, a| {
        let a = a * 1000.0;
        (a as i64)
            .wrapping_add(a as i32 as i64 * 3)
            .wrapping_add(a.abs() as u32 as i64)
            .wrapping_add(a.round_ties_even() as i32 as i64 * 7)
            .wrapping_add((((a * 1e6) as i64) as f32) as i64)
    });
}

/// Directed rounding against exact rational arithmetic in 128-bit integers.
#[test]
fn directed_rounding() {
    let a = floats(N);
    let out = Kernel::new("arithmetic", "float_directed").run::<f32, f32>(&a, N);
    for (i, got) in out.iter().enumerate() {
        let (x, y) = (a[i] as f64, a[(i + 1) % N] as f64);
        // f64 holds these sums and products exactly: the inputs are multiples of 2^-20 below 2^7.
        let down = |v: f64| {
            let n = v as f32;
            if n as f64 > v { n.next_down() } else { n }
        };
        let up = |v: f64| {
            let n = v as f32;
            if (n as f64) < v { n.next_up() } else { n }
        };
        let zero = |v: f64| if v > 0.0 { down(v) } else { up(v) };
        let quotient = {
            let b = (y as f32 + 100.0) as f64;
            let q = x / b;
            let n = q as f32;
            // n is one of the two neighbours; the remainder's sign decides.
            let rest = x - n as f64 * b;
            if rest < 0.0 {
                n.next_down()
            } else if rest > 0.0 && (n.next_up() as f64) * b <= x {
                n.next_up()
            } else {
                n
            }
        };
        let sum = 2f32.mul_add(up(x * y), zero(x + y));
        let sum = 4f32.mul_add(quotient, sum);
        let expected = 8f32.mul_add(zero(x * y + 0.1f32 as f64), sum);
        assert_eq!(got.to_bits(), expected.to_bits(), "element {i}: {got} and {expected}");
    }
    let doubles: Vec<f64> = a.iter().map(|x| *x as f64).collect();
    let out = Kernel::new("arithmetic", "double_directed").run::<f64, f64>(&doubles, N);
    for (got, a) in out.iter().zip(&doubles) {
        let nearest = (a + 0.1) + a * 1.1 + a / 3.0;
        assert!((got - nearest).abs() <= 4.0 * f64::EPSILON * nearest.abs().max(1.0));
    }
}

#[test]
fn control_flow() {
    let file = "control";
    let a = ints(N);
    let u: Vec<u32> = a.iter().map(|x| *x as u32).collect();
    Kernel::new(file, "collatz").maps(&u, |_, a| {
        let (mut a, mut steps) = (a % 1000 + 1, 0u32);
        while a != 1 {
            a = if a % 2 == 1 { 3 * a + 1 } else { a / 2 };
            steps += 1;
        }
        steps
    });
    Kernel::new(file, "switches").maps(&a, |_, a| match a as u32 % 9 {
        0 => a.wrapping_add(1),
        1 => a.wrapping_mul(3),
        2 => a ^ 0x55,
        3 => a.wrapping_neg().wrapping_add(17),
        4 => 17,
        5 => a / 5,
        6 => a << 3,
        7 => (0..a & 15).fold(0i32, |r, k| r.wrapping_add(k.wrapping_mul(a))),
        _ => 99,
    });
    let helper = |a: i32, b: i32| {
        if a > b { a.wrapping_mul(2).wrapping_sub(b) } else { b.wrapping_sub(a / 3) }
    };
    Kernel::new(file, "calls").maps(&a, |i, x| {
        let r = helper(x, i as i32);
        if i & 1 == 1 { helper(r, a[(i + 1) % N]) } else { r }
    });
    Kernel::new(file, "function_pointers").maps(&a, |i, x| {
        let x = x % 1000;
        [x * 2, x * x, -x][i % 3]
    });
    Kernel::new(file, "templates").maps(&a, |_, x| {
        let p = |n: i64, x: i64| {
            (0..=n).rev().fold(0i64, |s, k| s.wrapping_mul(x).wrapping_add(k * k - 3))
        };
        (p(7, (x % 17) as i64) as i32).wrapping_add(p(3, x as i64) as i32)
    });
    Kernel::new(file, "local_array").maps(&a, |i, _| {
        let stack: Vec<i32> = (0..32).map(|k| a[(i + k) % N].wrapping_mul(k as i32 + 1)).collect();
        let (mut at, mut sum) = (i as i32 & 31, 0i32);
        for _ in 0..20 {
            sum = sum.wrapping_add(stack[at as usize]);
            at = (at * 5 + 7 + (sum & 3)) & 31;
        }
        sum
    });
    let weights = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3];
    Kernel::new(file, "constants").maps(&a, |i, _| {
        (0..16)
            .fold(0i32, |s, k| s.wrapping_add(a[(i + k) % N].wrapping_mul(weights[(k + i) & 15])))
    });
    Kernel::new(file, "bubble_sort").maps(&a, |i, _| {
        let mut v: Vec<i32> = (0..8).map(|k| a[(i * 8 + k) % N]).collect();
        v.sort_unstable();
        v[i % 8].wrapping_sub(v[0]).wrapping_add(v[7])
    });
    Kernel::new(file, "global_variable").maps(&a, |_, x| x ^ 1);
    Kernel::new(file, "generic_pointer").maps(&a, |i, _| match i % 3 {
        0 => (i % 64) as i32 * 3,
        1 => a[i],
        _ => (i % 4) as i32 * 100 + (i % 128) as i32,
    });
    let f = floats(N);
    Kernel::new(file, "struct_calls").maps(&f, |i, x| {
        let (ay, az, by) = (f[(i + 1) % N], f[(i + 2) % N], x * 2.0);
        // As the PTX computes it: only the second component was fused by nvcc.
        let c = [ay * -3.0 - az * by, x.mul_add(3.0, az), x * by - ay];
        (c[0] + c[1]) - c[2]
    });
}

#[test]
fn other_signatures() {
    let a = ints(N);
    let table = [5i16, -4, 3, -2, 1, 0];
    let mut by_value = vec![0u8; 32];
    by_value[..4].copy_from_slice(&(-7i32).to_le_bytes());
    by_value[8..16].copy_from_slice(&123_456_789_012i64.to_le_bytes());
    for (k, v) in table.iter().enumerate() {
        by_value[16 + 2 * k..18 + 2 * k].copy_from_slice(&v.to_le_bytes());
    }
    let mut kernel = Kernel::new("control", "by_value");
    kernel.extra.push(by_value);
    kernel.maps(&a, |i, x| x as i64 * -7 + 123_456_789_012 + table[i % 6] as i64);

    let mut kernel = Kernel::new("control", "mandelbrot");
    kernel.no_input = true;
    kernel.extra.push(40u32.to_le_bytes().to_vec());
    kernel.maps(&a, |i, _| {
        let i = i as u32;
        let cx = ((i % 40) as f32).mul_add(3.0 / 40.0, -2.0);
        let cy = ((i / 40) as f32).mul_add(2.0 / 40.0, -1.0);
        let (mut x, mut y, mut k) = (0f32, 0f32, 0u32);
        while k < 100 {
            let (xx, yy) = (x * x, y * y);
            if xx + yy > 4.0 {
                break;
            }
            y = (2.0 * x).mul_add(y, cy);
            x = (xx - yy) + cx;
            k += 1;
        }
        k
    });

    let kernel = Kernel::new("control", "print");
    let (out, report) = kernel.run_reported::<i32, i32>(&a, N);
    assert_eq!(out, a);
    let expected: String = (0..N)
        .step_by(32)
        .map(|i| {
            format!(
                "i {i} in {} f {:.3} x {:08x} s text c {} l {}\n",
                a[i],
                a[i] as f64 * 0.5,
                a[i],
                char::from(b'A' + (i / 32 % 26) as u8),
                a[i] as i64 * 1_000_000_007
            )
        })
        .collect();
    assert_eq!(report.printed, expected);
    assert_eq!(report.findings, []);
}

/// The kernels of rustc, which take a length of 8 bytes.
#[test]
fn kernels_of_rustc() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../simt/tests/corpus");
    let text = std::fs::read_to_string(format!("{folder}/rustc.ptx")).unwrap();
    let module = Module::parse(&text).unwrap();
    let outcome = |name: &str, input: &[u8], output: &[u8], middle: &[u8]| {
        let mut memory = Memory::default();
        memory.track_initialization();
        let [x, y] = [input, output].map(|bytes| {
            let address = memory.allocate(bytes.len() as u64).unwrap();
            memory.write(address, bytes).unwrap();
            address
        });
        let mut launch = Launch::new(name, [3, 1, 1], [128, 1, 1]).address(x).address(y);
        if !middle.is_empty() {
            launch = launch.argument(middle);
        }
        let options = Options { checks: Checks::all(), ..Options::default() };
        let report = run(&module, &mut memory, &launch.u64(300), &options).unwrap();
        assert_eq!(report.findings, [], "{name}");
        let mut bytes = vec![0; output.len()];
        memory.read(y, &mut bytes).unwrap();
        bytes
    };
    let x = floats(300);
    let out = outcome("saxpy_loop", &pack(&x), &pack(&x), &1.5f32.to_le_bytes());
    assert_eq!(out, pack(&map(&x, |_, v| 1.5f32.mul_add(v, v))));
    let x: Vec<u32> = ints(300).iter().map(|v| *v as u32).collect();
    let out = outcome(
        "checked_sum",
        &pack(&x.iter().map(|v| *v as i32).collect::<Vec<_>>()),
        &[0; 1200],
        &[],
    );
    let sum =
        |i: usize| (0..8).fold(0u32, |s, k| s.wrapping_add(x[(i * 7 + k) % 300] / (k as u32 + 1)));
    assert_eq!(out, pack(&map(&x, |i, _| sum(i) as i32)));
}

/// Every kernel of the corpus is run by a test of this file or of corpus/parallel.rs.
#[test]
fn every_kernel_is_run() {
    let tests = concat!(include_str!("corpus.rs"), include_str!("corpus/parallel.rs"));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../simt/tests/corpus");
    let mut not_run = Vec::new();
    for file in ["arithmetic", "control", "parallel", "rustc"] {
        let text = std::fs::read_to_string(format!("{folder}/{file}.ptx")).unwrap();
        let module = Module::parse(&text).unwrap();
        let names = module.kernels().iter().map(|kernel| kernel.name.clone());
        not_run.extend(names.filter(|name| !tests.contains(&format!("\"{name}\""))));
    }
    assert_eq!(not_run, [""; 0]);
}
