//! Kernels in CUDA C++: what is given and solved, and the wrong and other right ones of the Rust files, as edits of the
//! solved twin.

use crate::candidates::build::{Candidate, places};
use crate::candidates::{ACCEPTED, REJECTED, kernel_tasks};
use course::compile::{Language, Places};
use course::format;
use course::grade::Submission;
use course::student::form;
use course::task::{FailureKind, Task};
use std::process::Command;

/// The task, the name of the edit of its Rust file, what is replaced in the solved twin, and by what.
const EDITED: &[(&str, &str, &str, &str)] = &[
    ("pad_the_tile", "two_more", "PITCH = 33", "PITCH = 34"),
    ("pad_the_tile", "too_much", "PITCH = 33", "PITCH = 35"),
    (
        "pad_the_tile",
        "lane_by_lane",
        "    if (row < rows && column < columns) target[(columns - 1 - column) * rows + row] = tile[x * PITCH + y];",
        "    float value = 0;\n    for (unsigned lane = 0; lane < 32; lane++)\n        if (lane == x) value = *(volatile float *)&tile[x * PITCH + y];\n    if (row < rows && column < columns) target[(columns - 1 - column) * rows + row] = value;",
    ),
    (
        "constant_walk",
        "lane_by_lane",
        "extern \"C\" __global__ void constant_walk(const float *source, float *target, unsigned n) {",
        "__constant__ float OTHERS[8] = { 1, 2, 4, 8, 16, 32, 64, 128 };\n\nextern \"C\" __global__ void constant_walk(const float *source, float *target, unsigned n) {\n    float value = 0;\n    for (unsigned lane = 0; lane < 32; lane++)\n        if (lane == threadIdx.x % 32) value = ((const volatile float *)OTHERS)[lane % 8];\n    if (value == 0) return;",
    ),
    ("swizzle_the_tile", "half", "column ^ row", "column ^ (row & 15)"),
    ("doubles_turned", "two_more", "PITCH = 33", "PITCH = 34"),
    (
        "missing_barrier",
        "two",
        "    __syncthreads();\n",
        "    __syncthreads();\n    __syncthreads();\n",
    ),
    ("guard", "wrong_where_counted", "1.0f - ", "(n > 30000 ? 2.0f : 1.0f) - "),
    (
        "rows_to_lanes",
        "wrong_where_counted",
        "2.0f * ",
        "(width * height > 20000 ? 3.0f : 2.0f) * ",
    ),
    ("missing_barrier", "from_global_memory", "tile[thread - 32]", "source[i - 32]"),
    (
        "copy_not_awaited",
        "committed",
        "    __pipeline_wait_prior(0);\n",
        "    __pipeline_commit();\n",
    ),
    ("wrong_mask", "upper", "MASK = 0xffffffff", "MASK = 0xffff0000"),
    ("one_counter", "every_lane", "threadIdx.x % 32 == 0", "threadIdx.x % 32 < 32"),
    (
        "lost_update",
        "stored",
        "atomicAdd(count, 1);",
        "atomicExch(count, atomicAdd(count, 0) + 1);",
    ),
    (
        "rows_to_lanes",
        "transposed",
        "row = pixel / width, column = pixel % width",
        "row = pixel % width, column = pixel / width",
    ),
    (
        "rows_to_lanes",
        "only_even",
        "unsigned at = row",
        "if (row % 2 == 1) return;\n    unsigned at = row",
    ),
    ("grid_stride", "one_short", "end = n,", "end = n - 1,"),
    ("grid_stride", "blocks", "gridDim.x * blockDim.x", "blockDim.x"),
    ("guard", "too_tight", "i < n", "i + 1 < n"),
    ("guard", "none", "i < n", "i < n + 200"),
    ("every_third", "red", "3 * thread + 1", "3 * thread"),
    ("every_third", "no_barrier", "    __syncthreads();\n", ""),
    ("one_field", "fifth", "3 * n + i", "4 * n + i"),
    ("wide_loads", "no_tail", "i = first; i < n;", "i = first; i < first;"),
    (
        "read_only_lie",
        "stored_twice",
        "unsigned own = data[i];",
        "unsigned own = *(volatile unsigned *)&data[i];",
    ),
    ("wide_loads", "no_guard", "first + 4 <= n", "first < n"),
    ("swizzle_the_tile", "rotated", "column ^ row", "(column + row) % 32"),
    (
        "guard",
        "last_element_again",
        "bool has_element = i < n;",
        "bool has_element = true;\n    i = i < n ? i : n - 1;",
    ),
    (
        "missing_barrier",
        "where_there_is_a_pixel",
        "    __syncthreads();\n",
        "    if (i < n) __syncthreads();\n",
    ),
    ("wide_loads", "pairs_in_map", "four.x + 1.0f", "1.0f + four.x"),
    ("tree", "halves_by_shift", "half /= 2", "half >>= 1"),
    ("two_writers", "by_next", "i % 8 == 7 || i + 1 == n", "(i + 1) % 8 == 0 || i + 1 == n"),
    ("boss_row_sums", "exclusive_or", "(step + lane) % 32", "step ^ lane"),
    ("boss_classes", "shifted", "1u << (8 * kind)", "1u << (kind << 3)"),
    (
        "half_and_half",
        "by_blocks",
        "unsigned i = thread;",
        "unsigned i = blockIdx.x * blockDim.x + threadIdx.x;",
    ),
    (
        "lockstep",
        "block_order",
        "half = 16; half > 0; half /= 2",
        "half = 1; half <= 16; half *= 2",
    ),
    (
        "rows_to_lanes",
        "by_subtraction",
        "column = pixel % width",
        "column = pixel - pixel / width * width",
    ),
    ("one_counter", "last_lane", "threadIdx.x % 32 == 0", "threadIdx.x % 32 == 31"),
];

/// Replacements in a file: what, and by what.
type Edits = &'static [(&'static str, &'static str)];

/// The task, a name, and edits of the solved twin after which it still passes: C++ as others write it.
const OTHERS: &[(&str, &str, Edits)] = &[
    (
        "pad_the_tile",
        "two_dimensions",
        &[
            ("tile[32 * PITCH]", "tile[32][PITCH]"),
            ("tile[y * PITCH + x]", "tile[y][x]"),
            ("tile[x * PITCH + y]", "tile[x][y]"),
        ],
    ),
    (
        "guard",
        "restricted",
        &[(
            "const float *source, float *target",
            "const float *__restrict__ source, float *__restrict__ target",
        )],
    ),
    (
        "guard",
        "early_return",
        &[("if (has_element) target", "if (!has_element) return;\n    target")],
    ),
    (
        "guard",
        "by_reference",
        &[
            (
                "extern \"C\"",
                "__device__ void turn(float &to, const float from) { to = 1 - from; }\n\nextern \"C\"",
            ),
            ("target[i] = 1.0f - source[i]", "turn(target[i], source[i])"),
        ],
    ),
    ("grid_stride", "of_64_bits", &[("for (unsigned i = first", "for (size_t i = first")]),
    (
        "grid_stride",
        "by_pointers",
        &[
            (
                "for (unsigned i = first; i < end; i += step)",
                "x += first, y += first, target += first;\n    for (int left = end - first; left > 0; left -= step, x += step, y += step, target += step)",
            ),
            ("target[i] = 3.0f * x[i] + y[i]", "*target = 3.0f * *x + *y"),
        ],
    ),
    ("small_grid", "with_for", &[("while (i < n) {", "for (; i < n;) {")]),
    (
        "small_grid",
        "with_do",
        &[
            ("while (i < n) {", "if (i < n) do {"),
            ("i += threads;\n    }", "i += threads;\n    } while (i < n);"),
        ],
    ),
    ("wrong_mask", "exchanged", &[("__shfl_down_sync(MASK", "__shfl_xor_sync(MASK")]),
    (
        "wrong_mask",
        "in_a_function",
        &[
            (
                "extern \"C\"",
                "__device__ unsigned warp_sum(unsigned sum) {\n    #pragma unroll\n    for (int delta = warpSize / 2; delta > 0; delta >>= 1)\n        sum += __shfl_down_sync(0xffffffff, sum, delta);\n    return sum;\n}\n\nextern \"C\"",
            ),
            (
                "for (unsigned delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(MASK, sum, delta);",
                "sum = warp_sum(sum);",
            ),
        ],
    ),
    (
        "rows_to_lanes",
        "named_threads",
        &[
            (
                "extern \"C\"",
                "#define PIXEL (blockIdx.x * blockDim.x + threadIdx.x)\n\nextern \"C\"",
            ),
            ("pixel = blockIdx.x * blockDim.x + threadIdx.x;", "pixel = PIXEL;"),
        ],
    ),
    ("one_field", "counted_pointers", &[("apart[3 * n + i]", "*(apart + 3 * (size_t)n + i)")]),
    (
        "every_third",
        "signed_index",
        &[("unsigned part = 0; part < 3; part++", "int part = 0; part != 3; ++part")],
    ),
    (
        "matmul_tile",
        "rows_of_tiles",
        &[
            ("tile_a[256], tile_b[256]", "tile_a[16][16], tile_b[16][16]"),
            ("tile_a[y * 16 + x] =", "tile_a[y][x] ="),
            ("tile_b[y * 16 + x] =", "tile_b[y][x] ="),
            ("tile_a[y * 16 + k] * tile_b[k * 16 + x]", "tile_a[y][k] * tile_b[k][x]"),
        ],
    ),
    (
        "one_counter",
        "by_ffs",
        &[("threadIdx.x % 32 == 0", "__ffs(__activemask()) - 1 == (int)threadIdx.x % warpSize")],
    ),
    ("lost_update", "one_more", &[("atomicAdd(count, 1)", "atomicInc(count, 0xffffffff)")]),
    (
        "boss_complex",
        "vectors",
        &[(
            "float re = number.x, im = number.y;",
            "const float &re = number.x;\n    const float &im = number.y;",
        )],
    ),
];

/// The solved twin, with its regions.
pub fn twin(task: &Task) -> String {
    let places = Places { language: Language::Cuda, ..places() };
    places.solved(task).expect("every kernel task has a twin")
}

/// Each kernel with the reason for which it fails, if it does.
pub fn kernels() -> Vec<(Candidate, Option<FailureKind>)> {
    let mut all = Vec::new();
    for task in kernel_tasks() {
        let forms = task.choices.iter().map(|choice| form(task, choice));
        let forms = std::iter::once(task).chain(forms);
        for (nth, task) in forms.enumerate() {
            let name =
                |what: &str| if nth == 0 { what.to_owned() } else { format!("{what}_form_{nth}") };
            let solved = twin(task);
            let given = format::shipped(&solved).expect("well-formed");
            all.push((Candidate::new(task, &name("shipped"), given), Some(task.fails_as_shipped)));
            let solved = format::solution(&solved).expect("well-formed");
            all.push((Candidate::new(task, &name("solved"), solved), None));
        }
        for (_, name, from, to) in EDITED.iter().filter(|one| one.0 == task.id()) {
            let solved = format::solution(&twin(task)).expect("well-formed");
            assert_eq!(solved.matches(from).count(), 1, "{}: `{from}` occurs once", task.id());
            all.push((Candidate::new(task, name, solved.replace(from, to)), expected(task, name)));
        }
        for (_, name, edits) in OTHERS.iter().filter(|one| one.0 == task.id()) {
            let mut source = format::solution(&twin(task)).expect("well-formed");
            for (from, to) in *edits {
                assert_eq!(source.matches(from).count(), 1, "{}: `{from}` occurs once", task.id());
                source = source.replace(from, to);
            }
            all.push((Candidate::new(task, name, source), None));
        }
    }
    all
}

/// The reason for which the Rust file of this name fails.
fn expected(task: &Task, name: &str) -> Option<FailureKind> {
    let rejected = REJECTED.iter().find(|one| (one.0, one.1) == (task.id(), name));
    let is_accepted = ACCEPTED.iter().any(|one| (one.0, one.1) == (task.id(), name));
    assert!(rejected.is_some() || is_accepted, "{} has a Rust file `{name}`", task.id());
    rejected.map(|one| one.4)
}

/// Every edit of a Rust file has its twin, but for what CUDA C++ has no word for.
pub fn missing() -> Vec<String> {
    let rust = REJECTED.iter().map(|one| (one.0, one.1));
    let rust = rust.chain(ACCEPTED.iter().map(|one| (one.0, one.1)));
    let is_here = |one: &(&str, &str)| EDITED.iter().any(|edit| (edit.0, edit.1) == *one);
    let missing = rust.filter(|one| !is_here(one) && *one != ("pad_the_tile", "matrices"));
    missing.map(|(task, name)| format!("{task}: {name}")).collect()
}

/// PTX that nvcc makes of a kernel, with the options of `learn`; kept by its text, as a run compiles two hundred.
pub fn compiled_by_nvcc(candidate: &Candidate) -> Submission {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    candidate.source.hash(&mut hasher);
    let folder = places().target.join("learn/cuda_proofs");
    let folder = folder.join(format!("{:016x}", hasher.finish()));
    std::fs::create_dir_all(&folder).expect("a writable target folder");
    let file = format!("{}.cu", candidate.task.id());
    let (source, ptx) = (folder.join(&file), folder.join("kernel.ptx"));
    if !ptx.is_file() {
        std::fs::write(&source, &candidate.source).expect("a writable target folder");
        let nvcc = course::cuda::nvcc().unwrap_or_else(|error| panic!("{error}"));
        let options = ["-ptx", "-lineinfo", "-arch=sm_80", "-std=c++17", "-fmad=false", "-o"];
        let status = Command::new(nvcc).args(options).arg(&ptx).arg(&source).status();
        assert!(status.expect("nvcc starts").success(), "{}: nvcc refuses it", candidate.name);
    }
    let ptx = std::fs::read_to_string(&ptx).expect("nvcc wrote it");
    Submission { ptx, source: candidate.source.clone(), file }
}
