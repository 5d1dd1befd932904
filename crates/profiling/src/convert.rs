//! What the executor and the virtual device say, as the types of files.

use results::{
    Counters, InstructionCounts, Kind, RequestCounts, RequestKind, RequestRecord, ServedWord,
    SourceLocation,
};
use virtual_gpu::OperationKind;

/// Copies the fields of one struct into another of the same fields. It names every field of both, so none is forgotten.
macro_rules! copied {
    ($value:expr, $from:path => $to:ident { $($field:ident),* } $(each $convert:ident { $($nested:ident),* })?) => {{
        let $from { $($field,)* $($($nested,)*)? } = $value;
        $to { $($field: *$field,)* $($($nested: $convert($nested),)*)? }
    }};
}

/// What the executor counted, as files have it.
pub fn counters(from: &simt::Counters) -> Counters {
    copied!(from, simt::Counters => Counters {
        warp_instructions, thread_instructions, predicated_on_thread_instructions, branches,
        divergent_branches, barriers, parameter_loads, generic_requests, integer_instructions,
        float_instructions, warp_level_instructions
    } each requests {
        global_load, global_store, global_atomic, global_reduction, async_copy_global,
        async_copy_shared, bulk_copy, shared_load, shared_store, shared_atomic,
        shared_matrix_load, shared_matrix_store, local_load, local_store, constant_load,
        texture_load, surface_store
    })
}

fn requests(from: &simt::Traffic) -> RequestCounts {
    copied!(from, simt::Traffic => RequestCounts {
        requests, lanes, bytes, bytes_distinct, sectors, sectors_ideal, sector_passes, lines,
        wavefronts, wavefronts_ideal
    })
}

/// What one instruction did, as files have it.
pub fn instruction(report: simt::InstructionReport) -> InstructionCounts {
    InstructionCounts {
        ptx_line: report.ptx_line,
        source: report.source.map(|simt::SourceLocation { file, line, inlined_at }| {
            SourceLocation { file, line, inlined_at }
        }),
        depends_on_timing: report.depends_on_timing,
        counters: counters(&report.counters),
        requests: report.requests.into_iter().map(request).collect(),
    }
}

/// A request, as files have it.
pub fn request(record: simt::RequestRecord) -> RequestRecord {
    let kind = match record.kind {
        simt::RequestKind::GlobalLoad => RequestKind::GlobalLoad,
        simt::RequestKind::GlobalStore => RequestKind::GlobalStore,
        simt::RequestKind::GlobalAtomic => RequestKind::GlobalAtomic,
        simt::RequestKind::AsyncCopySource => RequestKind::AsyncCopySource,
        simt::RequestKind::BulkCopy => RequestKind::BulkCopy,
        simt::RequestKind::AsyncCopyTarget => RequestKind::AsyncCopyTarget,
        simt::RequestKind::SharedLoad => RequestKind::SharedLoad,
        simt::RequestKind::SharedStore => RequestKind::SharedStore,
        simt::RequestKind::SharedAtomic => RequestKind::SharedAtomic,
        simt::RequestKind::ConstantLoad => RequestKind::ConstantLoad,
    };
    let word = |word: simt::ServedWord| ServedWord { index: word.index, lanes: word.lanes };
    RequestRecord {
        kind,
        bytes: record.bytes,
        lanes: record.lanes,
        traffic: requests(&record.traffic),
        passes: record
            .passes
            .into_iter()
            .map(|pass| pass.into_iter().map(word).collect())
            .collect(),
    }
}

/// What an operation is on a timeline; events are not shown.
pub fn kind_of(kind: &OperationKind) -> Option<Kind> {
    Some(match kind {
        OperationKind::Upload { bytes } => Kind::Upload(*bytes),
        OperationKind::Download { bytes } => Kind::Download(*bytes),
        OperationKind::DeviceCopy { bytes } => Kind::DeviceCopy(*bytes),
        OperationKind::HostCopy { bytes } => Kind::HostCopy(*bytes),
        OperationKind::Fill { bytes } => Kind::Fill(*bytes),
        OperationKind::Kernel { name } => Kind::Kernel(name.clone()),
        OperationKind::Graph => Kind::Graph,
        OperationKind::HostFunction => Kind::HostFunction,
        OperationKind::Wait => Kind::Wait,
        OperationKind::Call { name } => Kind::Call((*name).to_owned()),
        OperationKind::HostRead { bytes } => Kind::HostRead(*bytes),
        OperationKind::Event => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::counters;
    use simt::{Format, Image, Launch, Level, Memory, Module, Options, Shape, Texture, run};

    #[test]
    fn stores_to_a_surface_are_in_the_counters_of_files() {
        let mut memory = Memory::default();
        let mut image = Image {
            shape: Shape::Plane,
            format: Format::Single,
            channels: 1,
            width: 64,
            height: 1,
            depth: 1,
            levels: vec![Level { address: 0, pitch: None }],
        };
        image.levels[0].address = memory.allocate(image.level_bytes(0)).unwrap();
        let surface = memory.create_texture(Texture { image, sampler: None });
        let module = Module::parse(
            ".version 8.0\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 surface) {\n\
             .reg .b32 %r<4>;\n.reg .b64 %d<2>;\nld.param.u64 %d1, [surface];\n\
             mov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 2;\nmov.b32 %r2, 0;\n\
             sust.b.2d.b32.trap [%d1, {%r1, %r2}], {%r0};\nret;\n}\n",
        )
        .unwrap();
        let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).u64(surface);
        let report = run(&module, &mut memory, &launch, &Options::default()).unwrap();
        let stored = counters(&report.counters).surface_store;
        assert_eq!((stored.requests, stored.lanes, stored.sectors), (1, 32, 8));
    }
}
