//! The kernels of parallel.cu: shared memory, warps, atomics, tiles, copies and halves.

use super::{N, map};
use crate::half::{
    bf16_add, bf16_fma, bf16_mul, from_bf16, from_f16, h_add, h_fma, h_max, h_mul, to_bf16, to_f16,
};
use crate::support::{Kernel, floats, ints, pack};

#[test]
fn shared_memory_and_warps() {
    let file = "parallel";
    let a = ints(N);
    let padded = |i: usize| a.get(i).copied().unwrap_or(0);
    let mut kernel = Kernel::new(file, "reverse_block");
    kernel.block = 256;
    kernel.maps(&a, |i, _| {
        let from = i / 256 * 256 + 255 - i % 256;
        a.get(from).copied().unwrap_or(-1)
    });
    let mut kernel = Kernel::new(file, "reduce_shared");
    kernel.shared = 128 * 4;
    let sums: Vec<i32> =
        a.chunks(128).map(|c| c.iter().fold(0i32, |s, x| s.wrapping_add(*x))).collect();
    kernel.check(&a, &sums);
    let total = a.iter().fold(0i32, |s, x| s.wrapping_add(*x));
    let mut kernel = Kernel::new(file, "reduce_shuffle");
    kernel.initial = Some(vec![0; 4]);
    kernel.check(&a, &[total]);
    let scan = |i: usize| (i & !31..=i).fold(0i32, |s, k| s.wrapping_add(padded(k)));
    Kernel::new(file, "scan_warp").maps(&a, |i, _| {
        let segment = i & !15;
        scan(i).wrapping_add(scan(i ^ 5)).wrapping_add(scan(segment + i % 16))
    });
    Kernel::new(file, "votes").maps(&a, |i, x| {
        let warp: Vec<i32> = (i & !31..(i & !31) + 32).map(padded).collect();
        let bits = |f: &dyn Fn(i32) -> bool| {
            warp.iter().enumerate().fold(0u32, |m, (l, v)| m | u32::from(f(*v)) << l)
        };
        let sum = warp.iter().fold(0u32, |s, v| s.wrapping_add(*v as u32));
        let most = warp.iter().map(|v| *v as u32).max().unwrap();
        bits(&|v| v & 1 == 1)
            .wrapping_add(bits(&|v| v & 7 == x & 7).wrapping_mul(3))
            .wrapping_add(u32::from(warp.iter().all(|v| *v > -2_000_000_000)) * 5)
            .wrapping_add(u32::from(warp.iter().any(|v| v % 97 == 0)) * 7)
            .wrapping_add(sum.wrapping_mul(11))
            .wrapping_add(most ^ 32)
    });
    Kernel::new(file, "groups").maps(&a, |i, _| {
        let tile: Vec<i32> = (i & !15..(i & !15) + 16).map(padded).collect();
        let sum = tile.iter().fold(0i32, |s, v| s.wrapping_add(*v));
        sum.wrapping_mul(2)
            .wrapping_add(sum)
            .wrapping_add((i % 16) as i32 + (i % 128 / 16) as i32 * 1000)
            .wrapping_add(i32::from(sum > 0))
    });
    let mut kernel = Kernel::new(file, "barrier_counts");
    kernel.block = 96;
    kernel.maps(&a, |i, _| {
        let block: Vec<i32> = (i / 96 * 96..i / 96 * 96 + 96).map(padded).collect();
        let odd = block.iter().filter(|v| **v & 1 == 1).count() as i32;
        odd * 4
            + i32::from(block.iter().all(|v| *v != 12345)) * 2
            + i32::from(block.contains(&a[0]))
    });
}

#[test]
fn atomics() {
    let file = "parallel";
    let a = ints(N);
    let u: Vec<u32> = a.iter().map(|x| *x as u32).collect();
    let mut kernel = Kernel::new(file, "histogram");
    kernel.initial = Some(vec![0; 256]);
    let mut bins = vec![0u32; 64];
    u.iter().for_each(|x| bins[(x >> 26) as usize] += 1);
    kernel.check(&u, &bins);

    let mut kernel = Kernel::new(file, "atomics");
    kernel.initial = Some(vec![0; 14 * 4]);
    let mut out = vec![0i32; 14];
    out[0] = a.iter().copied().min().unwrap().min(0);
    out[1] = a.iter().copied().max().unwrap().max(0);
    out[3] = a.iter().fold(0, |s, x| s | x & 0xff);
    out[4] = a.iter().fold(0, |s, x| s ^ x);
    out[5] = a.iter().fold(0i32, |s, x| s.wrapping_sub(*x));
    out[6] = (0..N).fold(0u32, |v, _| if v >= 1000 { 0 } else { v + 1 }) as i32;
    out[7] = (0..N).fold(0u32, |v, _| if v == 0 || v > 77 { 77 } else { v - 1 }) as i32;
    let sum: u64 = u.iter().map(|x| *x as u64).sum();
    out[8] = sum as i32;
    out[9] = (sum >> 32) as i32;
    let most = a.iter().map(|x| *x as i64 * 3).max().unwrap().max(0);
    out[12] = most as i32;
    out[13] = (most >> 32) as i32;
    kernel.check(&a, &out);

    let mut kernel = Kernel::new(file, "compare_swap");
    kernel.initial = Some(vec![0; 16]);
    let mut sums = vec![0f32; 4];
    a.iter().enumerate().for_each(|(i, x)| sums[i & 3] += (x & 15) as f32);
    kernel.check(&a, &sums);

    let mut kernel = Kernel::new(file, "coalesced_group");
    kernel.initial = Some(vec![0; (N + 1) * 4]);
    let mut sizes = map(&a, |i, x| {
        if x & 1 == 0 {
            return 0;
        }
        (i & !31..((i & !31) + 32).min(N)).filter(|k| a[*k] & 1 == 1).count() as u32
    });
    sizes.push(a.iter().filter(|x| **x & 1 == 1).count() as u32);
    kernel.check(&a, &sizes);

    let mut kernel = Kernel::new(file, "last_block");
    let warps = N.div_ceil(128) * 4;
    kernel.initial = Some(vec![0; (2 + warps) * 4]);
    let mut out: Vec<i32> = (0..warps)
        .map(|w| {
            (w * 32..w * 32 + 32).fold(0i32, |s, k| s.wrapping_add(a.get(k).copied().unwrap_or(0)))
        })
        .collect();
    let total = out.iter().fold(0i32, |s, x| s.wrapping_add(*x));
    out.splice(0..0, [total, 0]);
    kernel.check(&a, &out);
}

#[test]
fn tiles() {
    let n = 128;
    let a = floats(n * n);
    let mut kernel = Kernel::new("parallel", "transpose");
    (kernel.grid, kernel.block_extent) = (Some([4, 4, 1]), Some([32, 8, 1]));
    kernel.count = Some(n as u32);
    kernel.check(&a, &(0..n * n).map(|i| a[i % n * n + i / n]).collect::<Vec<f32>>());

    let n = 64;
    let (a, b) = (floats(n * n), floats(2 * n * n)[n * n..].to_vec());
    let mut kernel = Kernel::new("parallel", "gemm");
    (kernel.grid, kernel.block_extent) = (Some([4, 4, 1]), Some([16, 16, 1]));
    kernel.count = Some(n as u32);
    kernel.second = Some(pack(&b));
    let expected: Vec<f32> = (0..n * n)
        .map(|i| (0..n).fold(0f32, |s, k| a[i / n * n + k].mul_add(b[k * n + i % n], s)))
        .collect();
    kernel.check(&a, &expected);
}

#[test]
fn wide_and_asynchronous() {
    let f = floats(4 * N);
    let mut kernel = Kernel::new("parallel", "vector4");
    kernel.count = Some(N as u32);
    kernel.check(
        &f,
        &f.chunks(4)
            .flat_map(|v| [v[3] + 1.0, v[2] * 2.0, v[1] - 3.0, -v[0]])
            .collect::<Vec<f32>>(),
    );
    let n = 1024;
    let a = ints(4 * n);
    let mut kernel = Kernel::new("parallel", "async_copy");
    kernel.count = Some(n as u32);
    let at = |block: usize, t: usize| &a[(block % 8 * 128 + t) * 4..][..4];
    let expected: Vec<i32> = (0..n)
        .flat_map(|i| {
            let (x, y) = (at(i / 128, 127 - i % 128), at(i / 128 + 1, (i % 128) ^ 1));
            [
                x[0].wrapping_add(y[0]),
                x[1].wrapping_sub(y[1]),
                x[2] ^ y[2],
                x[3].wrapping_add(y[3].wrapping_mul(2)),
            ]
        })
        .collect();
    kernel.check(&a, &expected);
}

#[test]
fn halves() {
    let file = "parallel";
    let f = floats(2 * N);
    let h: Vec<u16> = f.iter().map(|x| to_f16(*x * 0.1)).collect();
    let one = h[..N].to_vec();
    Kernel::new(file, "halves").maps(&one, |i, a| {
        let b = one[(i + 1) % N];
        h_add(h_mul(a, b), h_fma(a, a, b ^ 0x8000))
    });
    let mut kernel = Kernel::new(file, "halves2");
    kernel.count = Some(N as u32);
    kernel.maps(&h, |i, a| {
        let b = h[(i + 2) % (2 * N)];
        h_fma(a, b, h_add(a, h_max(a, b) ^ 0x8000))
    });
    let brains: Vec<u16> = f[..N].iter().map(|x| to_bf16(*x)).collect();
    Kernel::new(file, "brain").maps(&brains, |i, a| {
        let b = brains[(i + 1) % N];
        bf16_add(bf16_mul(a, b), bf16_fma(a, a, b))
    });
    let single = f[..N].to_vec();
    Kernel::new(file, "half_convert").maps(&single, |_, a| {
        let zero = {
            let x = a * 3.0;
            let h = to_f16(x);
            if from_f16(h).abs() > x.abs() { h - 1 } else { h }
        };
        (from_f16(to_f16(a)) + from_f16(zero)) + from_bf16(to_bf16(a))
    });
}
