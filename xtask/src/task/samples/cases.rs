//! Kernels of cuda-samples with a waste, how each is launched, and the edit that follows the advice on it.
//!
//! An edit replaces a short fragment and keeps the number of lines, so that an instruction is found again by its line.

/// A replacement in a file of a sample.
pub struct Edit {
    /// The fragment is the first after this text.
    pub after: &'static str,
    pub fragment: &'static str,
    pub by: &'static str,
}

/// A kernel, its launch, and the advice applied.
pub struct Case {
    /// The sample's folder below `Samples`.
    pub folder: &'static str,
    /// The file that is compiled.
    pub unit: &'static str,
    /// The file that is edited.
    pub file: &'static str,
    /// The kernel as the table names it.
    pub name: &'static str,
    /// A name that chooses it, as `coalesce explain FILE.ptx:NAME` takes it.
    pub kernel: &'static str,
    /// The launch, as `coalesce explain` takes it.
    pub launch: &'static str,
    /// The edit in words.
    pub change: &'static str,
    pub edits: &'static [Edit],
}

pub const CASES: &[Case] = &[
    Case {
        folder: "6_Performance/transpose",
        unit: "transpose.cu",
        file: "transpose.cu",
        name: "transposeNaive",
        kernel: "transposeNaive",
        launch: "--grid 8x8 --block 32x16 --arg out:f32*64Ki --arg in:f32*64Ki=random --arg width=256 --arg height=256",
        change: "a padded tile in shared memory",
        edits: &[
            Edit {
                after: "void transposeNaive(",
                fragment: "int index_out = yIndex + height * xIndex;",
                by: "__shared__ float tile[TILE_DIM][TILE_DIM + 1]; int index_out = blockIdx.y * TILE_DIM + threadIdx.x \
                     + height * (blockIdx.x * TILE_DIM + threadIdx.y);",
            },
            Edit {
                after: "void transposeNaive(",
                fragment: "odata[index_out + i] = idata[index_in + i * width];",
                by: "tile[threadIdx.y + i][threadIdx.x] = idata[index_in + i * width]; } __syncthreads(); \
                     for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) { \
                     odata[index_out + i * height] = tile[threadIdx.x][threadIdx.y + i];",
            },
        ],
    },
    Case {
        folder: "6_Performance/transpose",
        unit: "transpose.cu",
        file: "transpose.cu",
        name: "transposeCoalesced",
        kernel: "transposeCoalesced",
        launch: "--grid 8x8 --block 32x16 --arg out:f32*64Ki --arg in:f32*64Ki=random --arg width=256 --arg height=256",
        change: "rows padded by one word",
        edits: &[Edit {
            after: "void transposeCoalesced(",
            fragment: "[TILE_DIM][TILE_DIM]",
            by: "[TILE_DIM][TILE_DIM + 1]",
        }],
    },
    Case {
        folder: "2_Concepts_and_Techniques/boxFilter",
        unit: "boxFilter_kernel.cu",
        file: "boxFilter_kernel.cu",
        name: "d_boxfilter_x_global",
        kernel: "d_boxfilter_x_global",
        launch: "--grid 4 --block 64 --arg in:f32*16Ki=random --arg out:f32*16Ki --arg w=64 --arg h=256 --arg r=4",
        change: "the image stored by columns",
        edits: &[Edit {
            after: "void d_boxfilter_x_global(",
            fragment: "d_boxfilter_x(&id[y * w], &od[y * w], w, h, r)",
            by: "d_boxfilter_y(&id[y], &od[y], h, w, r)",
        }],
    },
    Case {
        folder: "2_Concepts_and_Techniques/histogram",
        unit: "histogram256.cu",
        file: "histogram256.cu",
        name: "mergeHistogram256Kernel",
        kernel: "mergeHistogram256Kernel",
        launch: "--grid 256 --block 256 --arg out:u32*256 --arg partial:u32*64Ki=iota --arg n=240",
        change: "partial histograms stored bin by bin",
        edits: &[Edit {
            after: "void mergeHistogram256Kernel(",
            fragment: "[blockIdx.x + i * HISTOGRAM256_BIN_COUNT]",
            by: "[blockIdx.x * histogramCount + i]",
        }],
    },
    Case {
        folder: "2_Concepts_and_Techniques/histogram",
        unit: "histogram64.cu",
        file: "histogram64.cu",
        name: "mergeHistogram64Kernel",
        kernel: "mergeHistogram64Kernel",
        launch: "--grid 64 --block 256 --arg out:u32*64 --arg partial:u32*64Ki=iota --arg n=1024",
        change: "partial histograms stored bin by bin",
        edits: &[Edit {
            after: "void mergeHistogram64Kernel(",
            fragment: "[blockIdx.x + i * HISTOGRAM64_BIN_COUNT]",
            by: "[blockIdx.x * histogramCount + i]",
        }],
    },
    Case {
        folder: "2_Concepts_and_Techniques/histogram",
        unit: "histogram64.cu",
        file: "histogram64.cu",
        name: "histogram64Kernel",
        kernel: "_Z17histogram64KernelPjP5uint4j",
        launch: "--grid 8 --block 64 --arg partial:u32*64Ki --arg data:u32*128Ki=random --arg n=8160",
        change: "columns exchanged by `column ^ row`",
        edits: &[Edit {
            after: "void histogram64Kernel(",
            fragment: "4 * (threadIdx.x & (SHARED_MEMORY_BANKS - 1))",
            by: "4 * ((threadIdx.x ^ threadIdx.x >> 4) & (SHARED_MEMORY_BANKS - 1))",
        }],
    },
    Case {
        folder: "6_Performance/alignedTypes",
        unit: "alignedTypes.cu",
        file: "alignedTypes.cu",
        name: "testKernel<RGBA32_misaligned>",
        kernel: "_Z10testKernelI17RGBA32_misalignedEvPT_S2_i",
        launch: "--grid 64 --block 256 --arg out:u32*128Ki --arg in:u32*128Ki=iota --arg n=32768",
        change: "the structure aligned to 16 bytes",
        edits: &[Edit {
            after: "typedef struct",
            fragment: "} RGBA32_misaligned;",
            by: "} __align__(16) RGBA32_misaligned;",
        }],
    },
    Case {
        folder: "6_Performance/alignedTypes",
        unit: "alignedTypes.cu",
        file: "alignedTypes.cu",
        name: "testKernel<LA32_misaligned>",
        kernel: "_Z10testKernelI15LA32_misalignedEvPT_S2_i",
        launch: "--grid 64 --block 256 --arg out:u32*128Ki --arg in:u32*128Ki=iota --arg n=32768",
        change: "the structure aligned to 8 bytes",
        edits: &[Edit {
            after: "typedef struct",
            fragment: "} LA32_misaligned;",
            by: "} __align__(8) LA32_misaligned;",
        }],
    },
    Case {
        folder: "6_Performance/alignedTypes",
        unit: "alignedTypes.cu",
        file: "alignedTypes.cu",
        name: "testKernel<RGBA8_misaligned>",
        kernel: "_Z10testKernelI16RGBA8_misalignedEvPT_S2_i",
        launch: "--grid 64 --block 256 --arg out:u32*128Ki --arg in:u32*128Ki=iota --arg n=32768",
        change: "the structure aligned to 4 bytes",
        edits: &[Edit {
            after: "typedef struct",
            fragment: "} RGBA8_misaligned;",
            by: "} __align__(4) RGBA8_misaligned;",
        }],
    },
    Case {
        folder: "6_Performance/alignedTypes",
        unit: "alignedTypes.cu",
        file: "alignedTypes.cu",
        name: "testKernel<RGB32_misaligned>",
        kernel: "_Z10testKernelI16RGB32_misalignedEvPT_S2_i",
        launch: "--grid 64 --block 256 --arg out:u32*128Ki --arg in:u32*128Ki=iota --arg n=32768",
        change: "a block's structures copied word by word",
        edits: &[Edit {
            after: "void testKernel(",
            fragment: "d_odata[pos] = d_idata[pos];",
            by: "for (int k = 0; k < sizeof(TData) / 4; k++) { \
                 const int word = (pos - threadIdx.x) * (sizeof(TData) / 4) + k * blockDim.x + threadIdx.x; \
                 ((unsigned *)d_odata)[word] = ((const unsigned *)d_idata)[word]; }",
        }],
    },
    Case {
        folder: "0_Introduction/simpleAtomicIntrinsics",
        unit: "simpleAtomicIntrinsics.cu",
        file: "simpleAtomicIntrinsics_kernel.cuh",
        name: "testKernel (atomics)",
        kernel: "testKernel",
        launch: "--grid 64 --block 256 --arg out:i32*16",
        change: "a warp's sum by `redux.sync`, added by one lane",
        edits: &[Edit {
            after: "void testKernel(",
            fragment: "atomicAdd(&g_odata[0], 10);",
            by: "const int sum = __reduce_add_sync(~0u, 10); if (threadIdx.x % 32 == 0) atomicAdd(&g_odata[0], sum);",
        }],
    },
    Case {
        folder: "0_Introduction/systemWideAtomics",
        unit: "systemWideAtomics.cu",
        file: "systemWideAtomics.cu",
        name: "atomicKernel",
        kernel: "atomicKernel",
        launch: "--grid 8 --block 256 --arg out:i32*16",
        change: "a warp's sum by `redux.sync`, added by one lane",
        edits: &[Edit {
            after: "void atomicKernel(",
            fragment: "atomicAdd_system(&atom_arr[0], 10);",
            by: "const int sum = __reduce_add_sync(~0u, 10); \
                 if (threadIdx.x % 32 == 0) atomicAdd_system(&atom_arr[0], sum);",
        }],
    },
    Case {
        folder: "2_Concepts_and_Techniques/reduction",
        unit: "reduction_kernel.cu",
        file: "reduction_kernel.cu",
        name: "reduce1<int>",
        kernel: "_Z7reduce1IiEvPT_S1_j",
        launch: "--grid 256 --block 256 --shared 2048 --arg in:i32*64Ki=iota --arg out:i32*256 --arg n=65536",
        change: "rows of 32 words padded by one",
        edits: &[
            Edit {
                after: "void reduce1(",
                fragment: "sdata[tid] =",
                by: "sdata[tid + tid / 32] =",
            },
            Edit {
                after: "void reduce1(",
                fragment: "sdata[index] += sdata[index + s];",
                by: "sdata[index + index / 32] += sdata[index + s + (index + s) / 32];",
            },
        ],
    },
    Case {
        folder: "2_Concepts_and_Techniques/convolutionSeparable",
        unit: "convolutionSeparable.cu",
        file: "convolutionSeparable.cu",
        name: "convolutionRowsKernel",
        kernel: "convolutionRowsKernel",
        launch: "--grid 4x64 --block 16x4 --arg out:f32*128Ki --arg in:f32*128Ki=random --arg w=512 --arg h=256 --arg pitch=512",
        change: "rows padded by 16 words",
        edits: &[Edit {
            after: "void convolutionRowsKernel(",
            fragment: "* ROWS_BLOCKDIM_X];",
            by: "* ROWS_BLOCKDIM_X + 16];",
        }],
    },
    Case {
        folder: "2_Concepts_and_Techniques/convolutionSeparable",
        unit: "convolutionSeparable.cu",
        file: "convolutionSeparable.cu",
        name: "convolutionColumnsKernel",
        kernel: "convolutionColumnsKernel",
        launch: "--grid 32x4 --block 16x8 --arg out:f32*128Ki --arg in:f32*128Ki=random --arg w=512 --arg h=256 --arg pitch=512",
        change: "rows padded by one word more",
        edits: &[Edit {
            after: "void convolutionColumnsKernel(",
            fragment: "* COLUMNS_BLOCKDIM_Y + 1];",
            by: "* COLUMNS_BLOCKDIM_Y + 2];",
        }],
    },
    Case {
        folder: "2_Concepts_and_Techniques/dct8x8",
        unit: "dct8x8.cu",
        file: "dct8x8_kernel_quantization.cuh",
        name: "CUDAkernelQuantizationFloat",
        kernel: "CUDAkernelQuantizationFloat",
        launch: "--grid 32x32 --block 8x8 --arg plane:f32*64Ki=random --arg stride=256",
        change: "the table in global memory",
        edits: &[Edit {
            after: "",
            fragment: "__constant__ short Q[]",
            by: "__device__ short Q[]",
        }],
    },
];
