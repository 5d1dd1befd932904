//! The CPU references against cases worked out by hand, independent of them.

use coalesce::data::{Data, Element, POISON, Random};
use coalesce::pattern::{Before, Case, Size};
use host::CATALOGUE;
use host::patterns::ALL as PATTERNS;

fn case(pattern: &str, size: &[usize]) -> Case {
    let pattern = CATALOGUE.select(pattern).expect("a pattern of the registry").pattern;
    (pattern.case)(&Size::new(size), &mut Random::new(3))
}

fn values<T: Element>(data: &Data) -> &[T] {
    T::view(data).expect("the element type of the pattern")
}

#[test]
fn coalescing_copies() {
    let case = case("coalescing", &[70]);
    assert_eq!(values::<f32>(&case.inputs[0]), values::<f32>(&case.outputs[0].reference));
}

#[test]
fn misalignment_leaves_the_first_words_alone() {
    let case = case("misalignment", &[2, 3]);
    let source = values::<f32>(&case.inputs[0]);
    let target = values::<f32>(&case.outputs[0].reference);
    assert_eq!((source.len(), target.len()), (5, 5));
    assert_eq!(case.outputs[0].reference.bytes()[..12], [POISON; 12]);
    assert_eq!(target[3..], source[3..]);
    // Behind 29 words of padding element 3 starts a line of 32 words.
    let padded = values::<f32>(&case.inputs[1]);
    assert_eq!(padded.len(), 29 + 5);
    assert_eq!(padded[32], source[3]);
}

#[test]
fn stride_takes_every_third() {
    let case = case("stride", &[2, 3]);
    let source = values::<f32>(&case.inputs[0]);
    assert_eq!(values::<f32>(&case.outputs[0].reference), [source[0], source[3]]);
    let spread = &case.outputs[1].reference;
    assert_eq!(values::<f32>(spread)[3], source[3]);
    assert_eq!(spread.bytes()[4..12], [POISON; 8]);
}

#[test]
fn bus_utilization_loads_five_shapes() {
    let case = case("bus_utilization", &[64]);
    let source = values::<f32>(&case.inputs[0]);
    assert_eq!(source.len(), 65);
    let result = |output: usize| values::<f32>(&case.outputs[output].reference);
    assert_eq!(result(0), &source[..64]);
    // Lane 7 of warp 1: 7 * 5 + 3 = 38 = 32 + 6.
    assert_eq!(result(1)[39], source[38]);
    assert_eq!(result(2), &source[1..]);
    assert_eq!((result(3)[31], result(3)[63]), (source[0], source[32]));
    // Each lane has two words to choose from. Thread 0 hashes to 0. Thread 1: 0x9E3779B9 ^ 0x9E37
    // = 0x9E37E78E, even; times an odd number it stays even; its bit 13 decides.
    assert_eq!(result(4)[0], source[0]);
    let product = 0x9E37_E78E_u64 * 0x85EB_CA6B;
    assert_eq!(result(4)[1], source[2 + (product >> 13 & 1) as usize]);
}

#[test]
fn store_segments_fill_whole_and_half_sectors() {
    let case = case("store_segments", &[33]);
    let poison = u32::from_ne_bytes([POISON; 4]);
    let output = |index: usize| values::<u32>(&case.outputs[index].reference);
    assert!((0..33).eq(output(0).iter().copied()));
    // Sectors 0, 2, 3 and 5 of the first 48 words; of the second 48, only lane 0's word, place 3.
    let scattered = output(1);
    assert_eq!(scattered.len(), 96);
    for (word, found) in scattered.iter().enumerate() {
        let written = [0..8, 16..32, 40..48, 51..52].iter().any(|range| range.contains(&word));
        assert_eq!(*found, if written { word as u32 } else { poison }, "word {word}");
    }
    let partial = output(2);
    assert_eq!(partial.len(), 128);
    assert_eq!(partial[..10], [0, 1, 2, 3, poison, poison, poison, poison, 8, 9]);
    assert_eq!(partial[59..67], [59, poison, poison, poison, poison, 64, poison, poison]);
}

#[test]
fn aos_soa_holds_the_same_elements_twice() {
    let case = case("aos_soa", &[2]);
    let [a, b, c, d] = values::<f32>(&case.inputs[0]) else { panic!("two points") };
    assert_eq!(values::<f32>(&case.inputs[1]), [*a, *c, *b, *d]);
    assert_eq!(values::<f32>(&case.outputs[0].reference), [4.0 * a, 4.0 * c]);
    assert_eq!(values::<f32>(&case.outputs[1].reference), [a + b, c + d]);
    let (particles, fields) = (values::<f32>(&case.inputs[2]), values::<f32>(&case.inputs[3]));
    assert_eq!((particles.len(), fields.len()), (14, 14));
    // Field 6, the mass, of particle 1.
    assert_eq!(particles[13], fields[13]);
    // Field 2 of particle 1, field 3 of particle 0.
    assert_eq!((particles[9], particles[3]), (fields[5], fields[6]));
    let half_mass = f64::from(particles[13]) / 2.0;
    let energy: f64 = (7..13).map(|word| half_mass * f64::from(particles[word]).powi(2)).sum();
    let found = f64::from(values::<f32>(&case.outputs[2].reference)[1]);
    assert!((found - energy).abs() <= 1e-7 * energy.abs(), "{found} {energy}");
}

#[test]
fn bank_conflicts_walk_sixty_four_steps() {
    let case = case("bank_conflicts", &[40, 3]);
    let next = values::<u32>(&case.inputs[0]);
    let way = next[0] as usize;
    assert!(way > 0);
    assert_eq!(way % 4, 0);
    let end = |start: usize| ((start + 64 * way) % 2048) as u32;
    let result = |output: usize, i: usize| values::<u32>(&case.outputs[output].reference)[i];
    // Thread 37 is lane 5 of warp 1; thread 5 is lane 5 of warp 0.
    assert_eq!((result(0, 5), result(0, 37)), (end(15), end(16)));
    assert_eq!((result(2, 5), result(2, 37)), (end(0), end(1)));
    assert_eq!((result(3, 5), result(3, 37)), (end(2), end(3)));
    let bank = values::<u32>(&case.inputs[1])[5] as usize % 32;
    assert_eq!(result(4, 5), end(5 * 32 + bank));
    assert_eq!((result(5, 5), result(6, 5)), (end(10), end(20)));
    // Row 5 of the tile: after 63 steps in column 63 * way, whose entry is one way on.
    let column = 63 * way % 32;
    assert_eq!(result(7, 5), ((5 * 32 + column + way) % 2048) as u32);
    // Thread 5 ends at 5 * 5^64 plus the sum of step * 5^(63 - step), which is
    // (5^64 - 1 - 4 * 64) / 16; modulo 2^40 leaves room for that division.
    let power = 5_u128.wrapping_pow(32) % (1 << 40);
    let power = power * power % (1 << 40);
    let sum = ((power + (1 << 40) - 1 - 4 * 64) / 16) % (1 << 32);
    assert_eq!(u128::from(result(1, 5)), (5 * power + sum) % (1 << 32));
}

#[test]
fn transpose_of_two_by_three() {
    let case = case("transpose", &[2, 3]);
    let [a, b, c, d, e, f] = values::<f32>(&case.inputs[0]) else { panic!("six elements") };
    assert_eq!(values::<f32>(&case.outputs[0].reference), [*a, *d, *b, *e, *c, *f]);
}

#[test]
fn matmul_ab_of_one_row_is_a_dot_product() {
    let case = case("matmul_ab", &[1, 2]);
    let (a, b) = (values::<f32>(&case.inputs[0]), values::<f32>(&case.inputs[1]));
    assert_eq!((a.len(), b.len()), (32, 64));
    let mut expected = [0.0_f64; 2];
    for step in 0..32 {
        expected[0] += f64::from(a[step]) * f64::from(b[2 * step]);
        expected[1] += f64::from(a[step]) * f64::from(b[2 * step + 1]);
    }
    let reference = values::<f32>(&case.outputs[0].reference);
    for (result, sum) in reference.iter().zip(expected) {
        approx::assert_relative_eq!(f64::from(*result), sum, max_relative = 1e-6);
    }
}

#[test]
fn async_copy_adds_the_word_of_another_warp() {
    let case = case("async_copy", &[2050]);
    let source = values::<f32>(&case.inputs[0]);
    let target = values::<f32>(&case.outputs[0].reference);
    assert_eq!(target[5], source[5] + source[133]);
    assert_eq!(target[133], source[133] + source[5]);
    assert_eq!(target[1919], source[1919] + source[1791 + 256]);
    // The last two have their partners beyond the end.
    assert_eq!(target[2048..], source[2048..]);
}

#[test]
fn constant_memory_walks_through_seven_rows() {
    let case = case("constant_memory", &[70, 4]);
    let table = values::<u32>(&case.inputs[0]);
    assert_eq!(table.len(), 31 * 32);
    // Three rows on, modulo 7: row 0 to 3, row 5 to 1, and row 30 to 33 % 7 = 5.
    assert_eq!((table[9], table[5 * 32 + 9], table[30 * 32]), (3 * 32 + 9, 32 + 9, 5 * 32));
    // 256 steps of 3 rows: 768 % 7 = 5. Lanes 3 and 38 % 32 = 6 begin in columns 3 and 2.
    let ends = values::<u32>(&case.outputs[0].reference);
    assert_eq!((ends.len(), ends[3], ends[38]), (70, 5 * 32 + 3, 5 * 32 + 2));
    // At x = 0 only the last coefficient remains, word 7; at x = 1 their sum, once for each round, and 1.
    let polynomials = values::<u32>(&case.outputs[1].reference);
    assert_eq!(polynomials[0], 3 * 32 + 7);
    assert_eq!(polynomials[1], 32 * (8 * 96 + 28) + 1);
}

#[test]
fn reduction_sums_without_rounding() {
    let case = case("reduction", &[5]);
    let floats = values::<f32>(&case.inputs[0]);
    // Odd multiples of 1/64: five of them as integers.
    let sixty_fourths: Vec<i32> = floats.iter().map(|value| (value * 64.0) as i32).collect();
    assert!(sixty_fourths.iter().all(|value| value % 2 != 0 && value.abs() < 64));
    let sum = sixty_fourths.iter().sum::<i32>() as f32 / 64.0;
    assert_eq!(values::<f32>(&case.outputs[0].reference), [sum]);
    let [a, b, c, d, e] = values::<i32>(&case.inputs[1]) else { panic!("five elements") };
    let wide = [a, b, c, d, e].into_iter().map(|value| i64::from(*value)).sum::<i64>();
    assert_eq!(values::<i32>(&case.outputs[1].reference), [wide as i32]);
    let [a, b, c] = values::<f64>(&case.inputs[2]) else { panic!("as many bytes as five floats") };
    assert_eq!(values::<f64>(&case.outputs[2].reference), [a + b + c]);
    assert!(case.outputs.iter().all(|output| output.before == Before::Zeros));
}

#[test]
fn scan_has_the_sum_up_to_each_element_and_each_tile() {
    let case = case("scan", &[512 * 512 + 1]);
    let source = values::<f32>(&case.inputs[0]);
    let sixty_fourths: Vec<i32> = source.iter().map(|value| (value * 64.0) as i32).collect();
    assert!(sixty_fourths.iter().all(|value| value % 2 != 0 && value.abs() < 64));
    let up_to = |end: usize| sixty_fourths[..end].iter().sum::<i32>() as f32 / 64.0;
    let target = values::<f32>(&case.outputs[0].reference);
    for end in [1, 2, 3, 511, 512, 513, 100_003, 512 * 512, 512 * 512 + 1] {
        assert_eq!(target[end - 1], up_to(end), "{end}");
    }
    let (all, sums) =
        (up_to(source.len()), |output: usize| values::<f32>(&case.outputs[output].reference));
    let (level_1, level_2) = (sums(1), sums(2));
    assert_eq!(
        (level_1.len(), level_1[0], level_1[511], level_1[512]),
        (513, up_to(512), up_to(512 * 512), all)
    );
    assert_eq!((level_2, sums(3).len()), (&[up_to(512 * 512), all][..], 0));
    assert_eq!(
        (sums(4).len(), sums(4)[31], sums(4)[32], sums(5).len()),
        (33, up_to(32 * 8192), all, 0)
    );
    // A word for the tickets, which count one launch, and one per tile.
    let state = values::<u64>(&case.outputs[6].reference);
    assert_eq!((state.len(), state[0]), (34, 1 << 32));
    assert_eq!(state[33], 2 << 32 | u64::from(all.to_bits()));
}

#[test]
fn histogram_counts_each_distribution() {
    let n = 4096;
    for distribution in 0..3 {
        let case = case("histogram", &[n, distribution]);
        let (bytes, keys) = (values::<u8>(&case.inputs[0]), values::<u32>(&case.inputs[1]));
        assert_eq!((bytes.len(), keys.len()), (n, n / 4));
        let counts = values::<u32>(&case.outputs[0].reference);
        assert_eq!(counts.len(), 256);
        let of_byte = |byte: u8| bytes.iter().filter(|found| **found == byte).count();
        assert!((0..=255).all(|byte| counts[usize::from(byte)] as usize == of_byte(byte)));
        // A quarter of the skewed bytes is 0: x^4 < 1/256 for x < 1/4.
        let zeros = [8..=32, 900..=1148, 0..=n][distribution].contains(&of_byte(0));
        assert!(zeros, "{} zeros at distribution {distribution}", of_byte(0));
        let filled = counts.iter().filter(|count| **count > 0).count();
        assert!(if distribution == 2 { filled == 1 } else { filled > 100 });
        let many = values::<u32>(&case.outputs[1].reference);
        assert_eq!(many.len(), 1 << 17);
        assert_eq!(many.iter().sum::<u32>() as usize, n / 4);
        assert!(keys.iter().all(|key| many[(key >> 15) as usize] > 0));
    }
}

#[test]
fn stream_semantics_chains_works_and_keeps_them_apart() {
    let case = case("stream_semantics", &[1, 2, 2]);
    let source = values::<u32>(&case.inputs[0])[0];
    let turn = |value: u32, addend: u32| value.wrapping_mul(1_664_525).wrapping_add(addend);
    let first = turn(turn(source, 1), 1);
    assert_eq!(values::<u32>(&case.outputs[0].reference), [turn(turn(first, 3), 3)]);
    let apart = [first, turn(turn(source, 3), 3)];
    assert_eq!(values::<u32>(&case.outputs[1].reference), apart);
    assert_eq!(values::<u32>(&case.outputs[2].reference), [1]);
}

#[test]
fn unified_addressing_adds_one_and_knows_each_kind() {
    let case = case("unified_addressing", &[2]);
    let source = values::<u32>(&case.inputs[0]);
    let added = [source[0].wrapping_add(1), source[1].wrapping_add(1)];
    assert_eq!(values::<u32>(&case.outputs[0].reference), added);
    let kinds: Vec<u32> =
        case.outputs[1..].iter().map(|facts| values::<u32>(&facts.reference)[0]).collect();
    assert_eq!(kinds, [2, 1, 1, 1, 4, 0]);
    let is_host: Vec<u32> =
        case.outputs[1..].iter().map(|facts| values::<u32>(&facts.reference)[1]).collect();
    assert_eq!(is_host, [0, 1, 1, 1, 0, 0]);
}

#[test]
fn allocation_passes_its_input_through() {
    let case = case("allocation", &[70, 3]);
    assert_eq!(values::<u32>(&case.inputs[0]), values::<u32>(&case.outputs[0].reference));
}

#[test]
fn graphs_applies_every_kernel_in_order() {
    let case = case("graphs", &[1, 3]);
    // ((3 x + 0) * 3 + 1) * 3 + 2 = 27 x + 5.
    let source = values::<u32>(&case.inputs[0])[0];
    let expected = source.wrapping_mul(27).wrapping_add(5);
    assert_eq!(values::<u32>(&case.outputs[0].reference), [expected]);
}

#[test]
fn l2_persistence_begins_its_table_anew() {
    let case = case("l2_persistence", &[70, 33, 60, 50]);
    let (source, table) = (values::<f32>(&case.inputs[0]), values::<f32>(&case.inputs[1]));
    assert_eq!((source.len(), table.len()), (70, 33));
    let target = values::<f32>(&case.outputs[0].reference);
    // 69 = 2 * 33 + 3.
    for (i, at) in [(0, 0), (32, 32), (33, 0), (66, 0), (69, 3)] {
        assert_eq!(target[i], source[i] + table[at]);
    }
}

#[test]
fn rgb_to_gray_has_one_image_in_three_layouts() {
    let case = case("rgb_to_gray", &[2]);
    let [r, g, b, s, t, u] = values::<u8>(&case.inputs[0]) else { panic!("two pixels") };
    let planes = values::<u8>(&case.inputs[1]);
    // Each plane is padded to 16 bytes.
    assert_eq!((planes.len(), &planes[..2]), (48, &[*r, *s][..]));
    assert_eq!((&planes[16..18], &planes[32..34]), (&[*g, *t][..], &[*b, *u][..]));
    assert_eq!(values::<u8>(&case.inputs[2]), [*r, *g, *b, 0, *s, *t, *u, 0]);
    let exact = 0.30078125 * f64::from(*r) + 0.5859375 * f64::from(*g) + 0.11328125 * f64::from(*b);
    let gray = values::<u8>(&case.outputs[0].reference)[0];
    assert!((f64::from(gray) - exact).abs() <= 0.5, "{gray} {exact}");
    assert_eq!(values::<u8>(&case.outputs[1].reference), [*r, *s]);
}

#[test]
fn stencil_adds_neighbours_by_their_distance() {
    let case = case("stencil", &[2, 1, 2]);
    let [a, b, c, d] = values::<f32>(&case.inputs[0]) else { panic!("four elements") };
    let result = |output: usize| values::<f32>(&case.outputs[output].reference)[0];
    let near = |found: f32, expected: f32| assert!((found - expected).abs() < 1e-5);
    // Coefficients 0.75, 0.5, -0.25, 0.375. As a line, b, c and d are 1, 2 and 3 away from a.
    near(result(0), 0.75 * a + 0.5 * b - 0.25 * c + 0.375 * d);
    // As a plane of 2 x 2, b is beside a and c below; d is on no axis.
    near(result(1), 0.75 * a + 0.5 * b + 0.5 * c);
    near(result(2), 0.75 * a + 0.5 * b + 0.5 * c);
    near(result(4), 0.75 * a + 0.5 * b + 0.5 * c);
}

#[test]
fn cache_operators_look_up_the_lower_bits() {
    let case = case("cache_operators", &[3, 4]);
    let (keys, table) = (values::<u32>(&case.inputs[0]), values::<u32>(&case.inputs[1]));
    let found = keys.iter().map(|key| table[(key & 3) as usize]);
    assert!(found.eq(values::<u32>(&case.outputs[0].reference).iter().copied()));
}

#[test]
fn atomics_sum_every_second_value() {
    let case = case("atomics", &[5, 2]);
    let source = values::<u32>(&case.inputs[0]);
    let odd = source[1] % 16 + source[3] % 16;
    assert_eq!(values::<u32>(&case.outputs[0].reference)[1], odd);
    assert_eq!(values::<u64>(&case.outputs[1].reference)[1], u64::from(odd));
    assert_eq!(values::<f32>(&case.outputs[2].reference)[1], odd as f32);
    assert_eq!(values::<f64>(&case.outputs[3].reference)[1], f64::from(odd));
    let sum = source.iter().copied().reduce(u32::wrapping_add);
    assert_eq!(Some(values::<u32>(&case.outputs[4].reference)[0]), sum);
    assert!(case.outputs[..4].iter().all(|output| output.before == Before::Zeros));
}

#[test]
fn distributed_shared_counts_each_key_once() {
    let case = case("distributed_shared", &[100, 8]);
    let keys = values::<u32>(&case.inputs[0]);
    let counts = values::<u32>(&case.outputs[0].reference);
    assert_eq!(counts.iter().sum::<u32>(), 100);
    assert_eq!(counts[5] as usize, keys.iter().filter(|key| **key & 7 == 5).count());
}

#[test]
fn every_pattern_is_checked_at_the_sizes_that_break_kernels() {
    for pattern in PATTERNS {
        let sizes: Vec<usize> = pattern.verify_sizes.iter().map(|size| size[0]).collect();
        for needed in [1, 31, 32, 33] {
            let found = pattern.verify_sizes.iter().any(|size| size.contains(&needed));
            assert!(found, "{}: no verify size has {needed}", pattern.name);
        }
        assert!(sizes.iter().any(|size| *size >= 1000), "{}: no large verify size", pattern.name);
        assert!(
            sizes.iter().any(|size| size % 2 == 1 && *size > 33),
            "{}: no large odd verify size",
            pattern.name
        );
    }
}

#[test]
fn every_case_has_arrays_of_the_stated_traffic() {
    for pattern in PATTERNS {
        let size = Size::new(pattern.count_size);
        let case = (pattern.case)(&size, &mut Random::new(1));
        let inputs: usize = case.inputs.iter().map(Data::byte_len).sum();
        let outputs: usize = case.outputs.iter().map(|output| output.reference.byte_len()).sum();
        for variant in pattern.variants {
            let bytes = pattern.bytes_of(variant, &size);
            let name = format!("{}/{}", pattern.name, variant.name);
            assert!(bytes.read <= inputs, "{name}: reads more than its inputs hold");
            assert!(bytes.written <= outputs, "{name}: writes more than its outputs hold");
            assert!(
                variant.outputs.iter().all(|output| *output < case.outputs.len()),
                "{}/{}",
                pattern.name,
                variant.name
            );
            assert!(
                !variant.outputs.is_empty(),
                "{}/{} writes nothing",
                pattern.name,
                variant.name
            );
        }
    }
}
