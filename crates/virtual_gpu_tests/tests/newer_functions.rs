//! Functions of the driver that cust has no word for, called by their names.

mod support;

use cuda_driver::ReturnCode;
use cuda_driver::api::*;
use cuda_driver::raw::{
    CUDA_MEMCPY3D, CUfunction, CUmemAccessDesc, CUmemPoolProps, CUmemoryPool, CUmemorytype,
    CUmodule,
};
use cuda_driver::types::{
    AllocationProperties, CopyAttributes, GraphEdge, GraphUpdate, HostNodeParameters,
    KernelNodeParameters, KernelNodeParametersV2, LaunchAttribute, LaunchAttributeValue,
    LaunchConfig, MemoryLocation, MemoryOperation, MemsetNodeParameters,
};
use std::ffi::{c_uint, c_void};
use std::ptr::{null, null_mut};
use virtual_gpu::{Options, OwnMachine, Profile};

/// Calls a function of the driver that succeeds.
macro_rules! done {
    ($name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the arguments are as NVIDIA's reference asks for them.
        assert_eq!(unsafe { $name($($argument),*) }, ReturnCode::SUCCESS, stringify!($name))
    };
}

/// A device of this thread's own, opened.
fn open() -> (OwnMachine, cust::context::Context) {
    let own = OwnMachine::new();
    (own, support::open(Profile::named("h200").unwrap(), Options::default()))
}

/// The kernels of `support::ptx` as the driver has them, each by a name.
fn load(kernels: &[(&str, &str)]) -> impl Fn(&str) -> CUfunction + use<> {
    let text = support::ptx(kernels) + "\0";
    let mut module: CUmodule = null_mut();
    done!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    move |name| {
        let name = format!("{name}\0");
        let mut function = null_mut();
        done!(cuModuleGetFunction(&mut function, module, name.as_ptr().cast()));
        function
    }
}

/// So many words of device memory, all of them 0.
fn words(count: usize) -> u64 {
    let mut address = 0;
    done!(cuMemAlloc_v2(&mut address, 4 * count));
    done!(cuMemsetD32_v2(address, 0, count));
    // Streams that do not wait for the default one may use it.
    done!(cuCtxSynchronize());
    address
}

/// Reads words of device memory after everything that was enqueued.
fn read(address: u64, count: usize) -> Vec<u32> {
    let mut found = vec![u32::MAX; count];
    done!(cuCtxSynchronize());
    done!(cuMemcpyDtoH_v2(found.as_mut_ptr().cast(), address, 4 * count));
    found
}

/// Adds 1 to the thread's word.
const ADD: (&str, &str) =
    ("add", "ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, 1; st.global.u32 [%rd3], %r2;");

/// NVIDIA's memMapIPCDrv prints the log, which is empty on an H200.
#[test]
fn the_log_of_a_module_that_loads_is_empty() {
    let _device = open();
    let text = support::ptx(&[ADD]) + "\0";
    let mut log = [7u8; 4];
    // `CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES` and `CU_JIT_INFO_LOG_BUFFER`.
    let mut options: [c_uint; 2] = [4, 3];
    let mut values = [std::ptr::without_provenance_mut(4), log.as_mut_ptr().cast()];
    let mut module: CUmodule = null_mut();
    let image = text.as_ptr().cast();
    let options = options.as_mut_ptr().cast();
    done!(cuModuleLoadDataEx(&mut module, image, 2, options, values.as_mut_ptr()));
    assert_eq!((values[0].addr(), log), (0, [0, 7, 7, 7]));
    done!(cuModuleLoadDataEx(&mut module, image, 0, null_mut(), null_mut()));
}

#[test]
fn attributes_that_are_hints_change_nothing() {
    let _device = open();
    let function = load(&[ADD])("add");
    let mut array = words(4);
    let mut launch = |ids: &[c_uint]| {
        let value = LaunchAttributeValue { pad: [0; 64] };
        let attribute = |id: &c_uint| LaunchAttribute { id: *id, pad: [0; 4], value };
        let mut attributes: Vec<_> = ids.iter().map(attribute).collect();
        let config = LaunchConfig {
            grid_dim_x: 1,
            grid_dim_y: 1,
            grid_dim_z: 1,
            block_dim_x: 4,
            block_dim_y: 1,
            block_dim_z: 1,
            shared_mem_bytes: 0,
            stream: null_mut(),
            attributes: attributes.as_mut_ptr(),
            num_attributes: ids.len() as c_uint,
        };
        let mut arguments: [*mut c_void; 1] = [(&raw mut array).cast()];
        // SAFETY: the kernel has one parameter, and the array as many words as there are threads.
        unsafe { cuLaunchKernelEx(&config, function, arguments.as_mut_ptr(), null_mut()) }
    };
    for id in [3, 5, 9, 10, 14, 16] {
        assert_eq!(launch(&[id]), ReturnCode::SUCCESS, "attribute {id}");
    }
    assert_eq!(launch(&[0, 3, 5, 6, 8, 9, 10, 14]), ReturnCode::SUCCESS);
    // Another size of clusters, an event.
    for id in [11, 12] {
        assert_eq!(launch(&[3, id]), ReturnCode::NOT_SUPPORTED, "attribute {id}");
    }
    assert_eq!(read(array, 4), [7; 4]);
}

/// The parameters of a kernel's node of `threads` threads; `arguments` lives until the node was made.
fn kernel_node(
    function: CUfunction,
    threads: u32,
    arguments: &mut [*mut c_void],
) -> KernelNodeParameters {
    KernelNodeParameters {
        function,
        grid: [1, 1, 1],
        block: [threads, 1, 1],
        shared_bytes: 0,
        parameters: arguments.as_mut_ptr(),
        extra: null_mut(),
    }
}

/// A copy of words inside the device.
fn copy_of(target: u64, source: u64, words: usize) -> CUDA_MEMCPY3D {
    let mut copy = std::mem::MaybeUninit::<CUDA_MEMCPY3D>::zeroed();
    // SAFETY: zeros are numbers and null addresses, and both kinds of memory are set before the whole is a value.
    let mut copy = unsafe {
        (&raw mut (*copy.as_mut_ptr()).srcMemoryType).write(CUmemorytype::CU_MEMORYTYPE_DEVICE);
        (&raw mut (*copy.as_mut_ptr()).dstMemoryType).write(CUmemorytype::CU_MEMORYTYPE_DEVICE);
        copy.assume_init()
    };
    (copy.srcDevice, copy.dstDevice) = (source, target);
    (copy.WidthInBytes, copy.Height, copy.Depth) = (4 * words, 1, 1);
    copy
}

#[test]
fn a_graph_is_built_node_by_node_and_changed() {
    let _device = open();
    let functions = load(&[
        ADD,
        ("twice", "ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, %r2; st.global.u32 [%rd3], %r2;"),
    ]);
    let (mut one, mut other) = (words(4), words(4));
    let mut graph = null_mut();
    done!(cuGraphCreate(&mut graph, 0));
    let [mut fill, mut add, mut copy, mut twice, mut end] = [null_mut(); 5];
    let five = MemsetNodeParameters {
        target: one,
        pitch: 0,
        value: 5,
        element_bytes: 4,
        width: 4,
        height: 1,
    };
    done!(cuGraphAddMemsetNode(&mut fill, graph, null(), 0, &five, null_mut()));
    let mut arguments = [(&raw mut one).cast()];
    let adds = kernel_node(functions("add"), 4, &mut arguments);
    done!(cuGraphAddKernelNode(&mut add, graph, &fill, 1, &adds));
    let copies = copy_of(other, one, 4);
    done!(cuGraphAddMemcpyNode(&mut copy, graph, &add, 1, &copies, null_mut()));
    // This one is made before the node that it follows is known.
    let mut arguments = [(&raw mut other).cast()];
    let twice_params = KernelNodeParametersV2 {
        launch: kernel_node(functions("twice"), 4, &mut arguments),
        kernel: null_mut(),
        context: null_mut(),
    };
    done!(cuGraphAddEmptyNode(&mut end, graph, null(), 0));
    done!(cuGraphAddKernelNode_v2(&mut twice, graph, null(), 0, &twice_params));
    done!(cuGraphAddDependencies(graph, [copy, twice].as_ptr(), [twice, end].as_ptr(), 2));
    // SAFETY: nodes of the graph; an edge that is there is refused.
    let twice_connected = unsafe { cuGraphAddDependencies_v2(graph, &copy, &twice, null(), 1) };
    assert_eq!(twice_connected, ReturnCode::INVALID_VALUE);

    let mut executable = null_mut();
    done!(cuGraphInstantiate_v2(&mut executable, graph, null_mut(), null_mut(), 0));
    done!(cuGraphLaunch(executable, null_mut()));
    assert_eq!((read(one, 4), read(other, 4)), (vec![6; 4], vec![12; 4]));

    // The executable graph is given other work; what it was made of stays.
    let mut third = words(4);
    let mut arguments = [(&raw mut third).cast()];
    let adds_third = kernel_node(functions("add"), 4, &mut arguments);
    done!(cuGraphExecKernelNodeSetParams(executable, add, &adds_third));
    done!(cuGraphExecMemcpyNodeSetParams(executable, copy, &copy_of(other, third, 4), null_mut()));
    done!(cuGraphLaunch(executable, null_mut()));
    done!(cuGraphLaunch(executable, null_mut()));
    assert_eq!(
        (read(one, 4), read(third, 4), read(other, 4)),
        (vec![5; 4], vec![2; 4], vec![4; 4])
    );
    // SAFETY: a node of another kind is refused.
    let wrong = unsafe { cuGraphExecKernelNodeSetParams(executable, fill, &adds) };
    assert_eq!(wrong, ReturnCode::INVALID_VALUE);

    // A clone is a graph of its own, and updates an executable graph of the same shape.
    let (mut clone, mut found) = (null_mut(), null_mut());
    done!(cuGraphClone(&mut clone, graph));
    done!(cuGraphNodeFindInClone(&mut found, add, clone));
    assert!(found != add && !found.is_null());
    done!(cuGraphKernelNodeSetParams(
        found,
        &kernel_node(functions("twice"), 4, &mut [(&raw mut one).cast()])
    ));
    let mut result = GraphUpdate { result: 9, error_node: null_mut(), error_from_node: null_mut() };
    done!(cuGraphExecUpdate_v2(executable, clone, &mut result));
    done!(cuGraphLaunch(executable, null_mut()));
    assert_eq!((read(one, 4), read(other, 4), result.result), (vec![10; 4], vec![20; 4], 0));
    // After the update its nodes still have the first graph's handles.
    done!(cuGraphExecKernelNodeSetParams(executable, add, &adds));
    done!(cuGraphLaunch(executable, null_mut()));
    assert_eq!(read(one, 4), [6; 4]);
    done!(cuGraphExecDestroy(executable));
    for graph in [graph, clone] {
        done!(cuGraphDestroy(graph));
    }
}

#[test]
fn a_graph_tells_its_nodes_edges_and_parameters() {
    let _device = open();
    let functions = load(&[ADD]);
    let mut array = words(1);
    let mut arguments = [(&raw mut array).cast()];
    let adds = kernel_node(functions("add"), 1, &mut arguments);
    let (mut graph, mut nodes) = (null_mut(), [null_mut(); 3]);
    done!(cuGraphCreate(&mut graph, 0));
    done!(cuGraphAddEmptyNode(&mut nodes[0], graph, null(), 0));
    done!(cuGraphAddKernelNode(&mut nodes[1], graph, &nodes[0], 1, &adds));
    unsafe extern "C" fn count(data: *mut c_void) {
        // SAFETY: the test gives a number that only this touches while the graph runs.
        unsafe { *data.cast::<u32>() += 1 };
    }
    let mut calls = 0u32;
    let host = HostNodeParameters { function: Some(count), data: (&raw mut calls).cast() };
    done!(cuGraphAddHostNode(&mut nodes[2], graph, nodes.as_ptr(), 2, &host));

    let (mut has, mut listed) = (0, [null_mut(); 4]);
    done!(cuGraphGetNodes(graph, null_mut(), &mut has));
    assert_eq!(has, 3);
    has = 4;
    done!(cuGraphGetNodes(graph, listed.as_mut_ptr(), &mut has));
    assert_eq!((has, &listed[..3], listed[3]), (3, &nodes[..], null_mut()));
    let (mut from, mut to) = ([null_mut(); 3], [null_mut(); 3]);
    let mut kinds = [GraphEdge { bytes: [7; 8] }; 3];
    let mut edges = 3;
    done!(cuGraphGetEdges_v2(
        graph,
        from.as_mut_ptr(),
        to.as_mut_ptr(),
        kinds.as_mut_ptr(),
        &mut edges
    ));
    assert_eq!((edges, from), (3, [nodes[0], nodes[0], nodes[1]]));
    assert_eq!(to, [nodes[1], nodes[2], nodes[2]]);
    assert_eq!(kinds, [GraphEdge::default(); 3]);
    edges = 1;
    done!(cuGraphNodeGetDependencies(nodes[2], from.as_mut_ptr(), &mut edges));
    assert_eq!((edges, from[0]), (1, nodes[0]));
    let kinds = nodes.map(|node| {
        let mut kind = 99;
        done!(cuGraphNodeGetType(node, &mut kind));
        kind
    });
    assert_eq!(kinds, [5, 0, 3]);

    // SAFETY: a structure of numbers and addresses.
    let mut told: KernelNodeParameters = unsafe { std::mem::zeroed() };
    done!(cuGraphKernelNodeGetParams(nodes[1], &mut told));
    assert_eq!((told.function, told.grid, told.block), (adds.function, [1; 3], [1; 3]));
    // SAFETY: the driver gives the address of each parameter, and the first is an address.
    assert_eq!(unsafe { told.parameters.read().cast::<u64>().read_unaligned() }, array);
    // They can be given back with another number of threads.
    told.block = [2, 1, 1];
    done!(cuGraphKernelNodeSetParams(nodes[1], &told));
    done!(cuGraphKernelNodeGetParams(nodes[1], &mut told));
    assert_eq!(told.block, [2, 1, 1]);
    told.block = [1; 3];
    done!(cuGraphKernelNodeSetParams(nodes[1], &told));

    let mut executable = null_mut();
    done!(cuGraphInstantiateWithFlags(&mut executable, graph, 0));
    done!(cuGraphDestroyNode(nodes[1]));
    done!(cuGraphGetEdges(graph, null_mut(), null_mut(), &mut edges));
    assert_eq!(edges, 1);
    done!(cuGraphLaunch(executable, null_mut()));
    assert_eq!((read(array, 1), calls), (vec![1], 1));
    // In a circle nothing can be first.
    done!(cuGraphAddDependencies(graph, &nodes[2], &nodes[0], 1));
    // SAFETY: a graph that cannot run is refused.
    let circle = unsafe { cuGraphInstantiateWithFlags(&mut executable, graph, 0) };
    assert_eq!(circle, ReturnCode::INVALID_VALUE);
    // The places of the nodes behind one that goes are others.
    let mut last = null_mut();
    done!(cuGraphAddEmptyNode(&mut last, graph, &nodes[2], 1));
    done!(cuGraphDestroyNode(nodes[0]));
    edges = 1;
    done!(cuGraphNodeGetDependencies(last, from.as_mut_ptr(), &mut edges));
    assert_eq!((edges, from[0]), (1, nodes[2]));
    // SAFETY: its node is gone.
    let gone = unsafe { cuGraphKernelNodeSetParams(nodes[1], &adds) };
    assert_eq!(gone, ReturnCode::INVALID_VALUE);
}

#[test]
fn no_bytes_of_a_pool_are_an_allocation() {
    let _device = open();
    let [mut none, mut other] = [0; 2];
    done!(cuMemAllocAsync(&mut none, 0, null_mut()));
    done!(cuMemAllocAsync(&mut other, 0, null_mut()));
    assert!(none != 0 && none != other, "0 bytes are an allocation, too");
    done!(cuMemFreeAsync(none, null_mut()));
    done!(cuMemFreeAsync(other, null_mut()));
}

#[test]
fn streams_write_words_and_wait_for_their_values() {
    let _device = open();
    let [mut writer, mut waiter] = [null_mut(); 2];
    for stream in [&mut writer, &mut waiter] {
        done!(cuStreamCreate(stream, 1));
    }
    let array = words(8);
    // 64 bits, and then what the other stream waits for.
    done!(cuStreamWriteValue64_v2(writer, array, 0x1_0000_0002, 0));
    done!(cuStreamWriteValue32_v2(writer, array + 8, 7, 0));
    done!(cuStreamWaitValue32_v2(waiter, array + 8, 7, 1));
    done!(cuStreamWaitValue64_v2(waiter, array, 0x1_0000_0000, 0));
    done!(cuMemcpyDtoDAsync_v2(array + 16, array, 12, waiter));
    assert_eq!(read(array, 8), [2, 1, 7, 0, 2, 1, 7, 0]);
    for (value, flags, is_there) in
        [(7, 0, true), (8, 0, false), (6, 1, false), (8, 2, false), (4, 2, true), (0, 3, true)]
    {
        // SAFETY: the word is one of an allocation.
        let code = unsafe { cuStreamWaitValue32(waiter, array + 8, value, flags) };
        assert_eq!(code == ReturnCode::SUCCESS, is_there, "{value} {flags}: {code}");
    }
    // SAFETY: an address between two words is refused.
    assert_eq!(unsafe { cuStreamWriteValue64(writer, array + 4, 1, 0) }, ReturnCode::INVALID_VALUE);
    let operation = |kind, address, value| MemoryOperation {
        kind,
        own_flags: 0,
        address,
        value,
        flags: 0,
        pad: [0; 5],
    };
    let mut batch = [
        operation(2, array, 9),
        operation(6, 0, 0),
        operation(1, array, 9),
        operation(5, array + 8, 3),
    ];
    done!(cuStreamBatchMemOp_v2(writer, 4, batch.as_mut_ptr(), 0));
    assert_eq!(read(array, 4), [9, 1, 3, 0]);
    assert!(
        virtual_gpu::misuse().iter().all(|it| it.kind != virtual_gpu::MisuseKind::MissingOrder)
    );
}

#[test]
fn copies_of_a_batch_are_made_in_the_stream() {
    let _device = open();
    let mut stream = null_mut();
    done!(cuStreamCreate(&mut stream, 1));
    let array = words(4);
    let mut place = null_mut();
    done!(cuMemAllocHost_v2(&mut place, 8));
    // SAFETY: page-locked memory of two words, which nothing else uses now.
    let host = unsafe { &mut *place.cast::<[u32; 2]>() };
    *host = [5, 6];
    let (mut targets, mut sources) =
        ([array, array + 8], [host.as_ptr().expose_provenance() as u64; 2]);
    sources[1] += 4;
    let attributes =
        CopyAttributes { source_order: 2, hints: [MemoryLocation::host(); 2], flags: 0 };
    let mut copy = |stream, order| {
        let mut attributes = CopyAttributes { source_order: order, ..attributes };
        // SAFETY: two addresses, sizes and one attribute.
        unsafe {
            cuMemcpyBatchAsync_v2(
                targets.as_mut_ptr(),
                sources.as_mut_ptr(),
                [4, 4].as_mut_ptr(),
                2,
                &mut attributes,
                &mut 0,
                1,
                stream,
            )
        }
    };
    assert_eq!(copy(stream, 2), ReturnCode::SUCCESS);
    assert_eq!(copy(null_mut(), 2), ReturnCode::INVALID_VALUE, "the legacy stream");
    assert_eq!(copy(stream, 0), ReturnCode::INVALID_VALUE, "no order");
    host[0] = 99;
    assert_eq!(read(array, 4), [5, 0, 6, 0]);
}

#[test]
fn ids_and_clusters_are_told() {
    let _device = open();
    let (mut one, mut other, mut stream) = (0, 0, null_mut());
    done!(cuCtxGetId(null_mut(), &mut one));
    assert_ne!(one, 0);
    done!(cuStreamCreate(&mut stream, 0));
    done!(cuStreamGetId(stream, &mut one));
    done!(cuStreamGetId(null_mut(), &mut other));
    assert_ne!(one, other);
    let (mut device, mut context, mut green) = (9, null_mut(), stream.cast());
    done!(cuStreamGetCtx_v2(stream, &mut context, &mut green));
    done!(cuCtxGetDevice_v2(&mut device, context));
    done!(cuCtxSynchronize_v2(null_mut()));
    assert!(device == 0 && green.is_null());
    let mut width = 0;
    done!(cuDeviceGetTexture1DLinearMaxWidth(&mut width, 32, 1, 0));
    assert_eq!(width, 1 << 28);
    let function = load(&[ADD])("add");
    let value = LaunchAttributeValue { cluster_dim: [4, 1, 1] };
    let mut cluster =
        LaunchAttribute { id: LaunchAttribute::CLUSTER_DIMENSION, pad: [0; 4], value };
    let mut config = LaunchConfig {
        grid_dim_x: 8,
        grid_dim_y: 1,
        grid_dim_z: 1,
        block_dim_x: 1024,
        block_dim_y: 1,
        block_dim_z: 1,
        shared_mem_bytes: 0,
        stream: null_mut(),
        attributes: &mut cluster,
        num_attributes: 1,
    };
    let mut found = 0;
    // Two blocks per multiprocessor, 8 groups of 16.
    done!(cuOccupancyMaxActiveClusters(&mut found, function, &config));
    assert_eq!(found, 8 * (2 * 16 / 4));
    config.num_attributes = 0;
    done!(cuOccupancyMaxPotentialClusterSize(&mut found, function, &config));
    assert_eq!(found, 8, "more has to be allowed");
}

const GRANULE: usize = 2 << 20;

/// Asks for memory of the first device.
fn of_the_device() -> AllocationProperties {
    AllocationProperties {
        kind: 1,
        handle_types: 0,
        location: MemoryLocation::device(0),
        metadata: null_mut(),
        flags: [0; 8],
    }
}

/// Returns the attribute that says whether a program may choose addresses.
fn maps_memory() -> i32 {
    let mut value = -1;
    done!(cuDeviceGetAttribute(&mut value, 102, 0));
    value
}

#[cfg(not(target_os = "linux"))]
#[test]
fn what_needs_linux_is_not_supported() {
    let _device = open();
    assert_eq!(maps_memory(), 0);
    let (mut place, mut address, memory) = (0, 0, words(4));
    let mut shared = cuda_driver::raw::CUipcMemHandle { reserved: [0; 64] };
    // SAFETY: the pointers are to what the calls write.
    let codes = unsafe {
        [
            cuMemAddressReserve(&mut address, GRANULE, 0, 0, 0),
            cuMemCreate(&mut place, GRANULE, &of_the_device(), 0),
            cuIpcGetMemHandle(&mut shared, memory),
            cuIpcOpenMemHandle_v2(&mut address, shared, 1),
        ]
    };
    assert_eq!(codes, [ReturnCode::NOT_SUPPORTED; 4]);
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs Linux")]
fn memory_is_mapped_where_a_program_wants_it() {
    let _device = open();
    assert_eq!(maps_memory(), 1);
    let function = load(&[ADD])("add");
    let properties = of_the_device();
    let (mut granule, mut before, mut free, mut total) = (0, 0, 0, 0);
    done!(cuMemGetInfo_v2(&mut before, &mut total));
    done!(cuMemGetAllocationGranularity(&mut granule, &properties, 0));
    assert_eq!(granule, GRANULE);
    let [mut one, mut other, mut third] = [0; 3];
    for handle in [&mut one, &mut other, &mut third] {
        done!(cuMemCreate(handle, GRANULE, &properties, 0));
    }
    done!(cuMemGetInfo_v2(&mut free, &mut total));
    assert_eq!(before - free, 3 * GRANULE);
    let (mut start, mut second) = (0u64, 0u64);
    // More addresses than any machine has memory.
    done!(cuMemAddressReserve(&mut start, 1 << 40, 0, 0, 0));
    done!(cuMemAddressReserve(&mut second, 4 * GRANULE, 0, 0, 0));
    assert_eq!(start % GRANULE as u64, 0);
    // Two neighbours are one range, though their memory is not.
    let middle = start + GRANULE as u64;
    done!(cuMemMap(start, GRANULE, 0, one, 0));
    done!(cuMemMap(middle, GRANULE, 0, other, 0));
    // SAFETY: memory is mapped there, which nobody may use yet.
    assert_eq!(unsafe { cuMemsetD8_v2(start, 1, 4) }, ReturnCode::INVALID_VALUE);
    let both = 2 * GRANULE;
    let mut access = std::mem::MaybeUninit::<CUmemAccessDesc>::zeroed();
    let access = access.as_mut_ptr();
    // SAFETY: a location of a device, and to read and write, as the header lays them out.
    unsafe {
        (&raw mut (*access).location).cast::<MemoryLocation>().write(MemoryLocation::device(0));
        (&raw mut (*access).flags).cast::<c_uint>().write(3);
    }
    done!(cuMemSetAccess(start, both, access, 1));
    let words = GRANULE / 4;
    done!(cuMemsetD32_v2(start, 5, 2 * words));
    let mut array = middle - 8;
    let mut arguments: [*mut c_void; 1] = [(&raw mut array).cast()];
    done!(cuLaunchKernel(
        function,
        1,
        1,
        1,
        4,
        1,
        1,
        0,
        null_mut(),
        arguments.as_mut_ptr(),
        null_mut()
    ));
    assert_eq!(read(array - 8, 8), [5, 5, 6, 6, 6, 6, 5, 5]);
    // The same memory at another address, and it stays when its first address goes.
    done!(cuMemMap(second, GRANULE, 0, other, 0));
    done!(cuMemSetAccess(second, GRANULE, access, 1));
    done!(cuMemsetD32_v2(middle, 9, 1));
    assert_eq!(read(second, 3), [9, 6, 5]);
    done!(cuMemUnmap(start, both));
    // SAFETY: nothing is there any more, and the driver knows it.
    assert_eq!(unsafe { cuMemcpyDtoD_v2(second, start, 4) }, ReturnCode::INVALID_VALUE);
    done!(cuMemRelease(one));
    done!(cuMemRelease(other));
    assert_eq!(read(second, 3), [9, 6, 5]);
    // SAFETY: something is mapped there.
    assert_eq!(unsafe { cuMemAddressFree(second, 4 * GRANULE) }, ReturnCode::INVALID_VALUE);
    done!(cuMemUnmap(second, GRANULE));
    done!(cuMemRelease(third));
    done!(cuMemAddressFree(second, 4 * GRANULE));
    done!(cuMemAddressFree(start, 1 << 40));
    done!(cuMemGetInfo_v2(&mut free, &mut total));
    assert_eq!(before, free);
    assert_eq!(virtual_gpu::leaks(), []);
}

/// Maps the whole of a handle's memory at new addresses, for reads and writes.
#[cfg(target_os = "linux")]
fn mapped(handle: u64) -> u64 {
    let mut address = 0;
    done!(cuMemAddressReserve(&mut address, GRANULE, 0, 0, 0));
    done!(cuMemMap(address, GRANULE, 0, handle, 0));
    let mut access = std::mem::MaybeUninit::<CUmemAccessDesc>::zeroed();
    let access = access.as_mut_ptr();
    // SAFETY: a location of a device, and to read and write, as the header lays them out.
    unsafe {
        (&raw mut (*access).location).cast::<MemoryLocation>().write(MemoryLocation::device(0));
        (&raw mut (*access).flags).cast::<c_uint>().write(3);
    }
    done!(cuMemSetAccess(address, GRANULE, access, 1));
    address
}

/// Imports memory by the number of a file descriptor.
#[cfg(target_os = "linux")]
fn import(handle: &mut u64, descriptor: i32) -> ReturnCode {
    let number = std::ptr::without_provenance_mut(descriptor as usize);
    // SAFETY: the handle is a place of its own, and the driver reads the number alone.
    unsafe { cuMemImportFromShareableHandle(handle, number, 1) }
}

/// The answers of an H200 for a file descriptor that stands for nothing of CUDA's: `results/nvidia-h200/codes.txt`.
#[cfg(target_os = "linux")]
const UNKNOWN: ReturnCode = ReturnCode(999);

#[cfg(target_os = "linux")]
#[test]
fn memory_is_handed_on_as_a_file_descriptor() {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    let _device = open();
    let (mut closed, mut shared, mut again, mut supported) = (0, 0, 0, 0);
    done!(cuDeviceGetAttribute(&mut supported, 103, 0));
    assert_eq!(supported, 1);
    let as_file = AllocationProperties { handle_types: 1, ..of_the_device() };
    // Neither making nor exporting needs a current context.
    let mut current = null_mut();
    done!(cuCtxGetCurrent(&mut current));
    done!(cuCtxSetCurrent(null_mut()));
    done!(cuMemCreate(&mut closed, GRANULE, &of_the_device(), 0));
    done!(cuMemCreate(&mut shared, GRANULE, &as_file, 0));
    let mut number = -1;
    let mut export = |handle: u64, kind: c_uint| {
        // SAFETY: the place is one for a C `int`.
        unsafe { cuMemExportToShareableHandle((&raw mut number).cast(), handle, kind, 0) }
    };
    assert_eq!(export(closed, 1), ReturnCode::INVALID_VALUE, "nobody asked for a handle of it");
    assert_eq!(export(shared, 8), ReturnCode::INVALID_VALUE, "another kind");
    assert_eq!(export(shared, 1), ReturnCode::SUCCESS);
    done!(cuCtxSetCurrent(current));
    // SAFETY: the driver has just given it to us.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    let address = mapped(shared);
    done!(cuMemsetD32_v2(address, 41, GRANULE / 4));
    done!(cuCtxSynchronize());
    assert_eq!(import(&mut again, number), ReturnCode::SUCCESS);
    assert_eq!(read(mapped(again), 1), [41], "the same memory at another address");
    let mut properties = of_the_device();
    done!(cuMemGetAllocationPropertiesFromHandle(&mut properties, again));
    assert_eq!(properties.handle_types, 0, "what was imported is not handed on, as on an H200");
    done!(cuMemGetAllocationPropertiesFromHandle(&mut properties, shared));
    assert_eq!(properties.handle_types, 1);
    let other = std::fs::File::open("/dev/null").expect("a file");
    assert_eq!(import(&mut again, other.as_raw_fd()), UNKNOWN, "not ours");
    assert_eq!(import(&mut again, i32::MAX), UNKNOWN, "no file");
    let of_no_kind = std::ptr::without_provenance_mut(number as usize);
    // SAFETY: the handle is a place of its own, and the driver reads the number alone.
    let code = unsafe { cuMemImportFromShareableHandle(&mut again, of_no_kind, 0) };
    assert_eq!(code, ReturnCode::INVALID_VALUE);
    with_child("inner_import", &descriptor, "");
    assert_eq!(read(address, 2), [77, 41], "the other process has written it");
    done!(cuCtxSetCurrent(null_mut()));
    done!(cuMemUnmap(address, GRANULE));
    done!(cuCtxSetCurrent(current));
}

/// Runs an ignored test in a process that inherits a copy of a file descriptor, and is told its number and a text.
#[cfg(target_os = "linux")]
fn with_child(inner: &str, descriptor: &std::os::fd::OwnedFd, text: &str) {
    use std::os::fd::AsRawFd;
    // SAFETY: the call takes a number.
    let inherited = unsafe { libc::dup(descriptor.as_raw_fd()) };
    assert!(inherited >= 0);
    let output = std::process::Command::new(std::env::current_exe().expect("this test"))
        .args([inner, "--exact", "--ignored", "--nocapture"])
        .env("SHARED", format!("{inherited} {text}"))
        .output()
        .expect("the test starts");
    // SAFETY: as above.
    unsafe { libc::close(inherited) };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{inner}: {errors}");
}

/// Returns the number of a file descriptor that another test handed on, and the text beside it.
#[cfg(target_os = "linux")]
fn handed_on() -> (i32, String) {
    let shared = std::env::var("SHARED").expect("the other test sets it");
    let (number, text) = shared.split_once(' ').expect("two words");
    (number.parse().expect("a number"), text.to_owned())
}

/// The bytes of `CUmemPoolPtrExportData`.
#[cfg(target_os = "linux")]
type Exported = [u8; 64];

#[cfg(target_os = "linux")]
#[test]
fn memory_of_a_pool_is_handed_on() {
    use std::os::fd::{FromRawFd, OwnedFd};
    let _device = open();
    let mut supported = 0;
    done!(cuDeviceGetAttribute(&mut supported, 119, 0));
    assert_eq!(supported, 1, "file descriptors");
    // SAFETY: zeros are a value of the structure.
    let mut properties: CUmemPoolProps = unsafe { std::mem::zeroed() };
    let place = MemoryLocation::device(0);
    // SAFETY: enums are written as the integers they are in C, and the two places are laid out alike.
    let set = |properties: &mut CUmemPoolProps, handle_types: c_uint| unsafe {
        (&raw mut properties.allocType).cast::<c_uint>().write(1);
        (&raw mut properties.handleTypes).cast::<c_uint>().write(handle_types);
        (&raw mut properties.location).cast::<MemoryLocation>().write(place);
    };
    set(&mut properties, 0);
    let [mut own, mut shared, mut number] = [null_mut(), null_mut(), null_mut()];
    let export = |to: &mut CUmemoryPool, pool, flags| {
        // SAFETY: the place has room for a C `int`.
        unsafe { cuMemPoolExportToShareableHandle((&raw mut *to).cast(), pool, 1, flags) }
    };
    done!(cuMemPoolCreate(&mut own, &properties));
    set(&mut properties, 1);
    done!(cuMemPoolCreate(&mut shared, &properties));
    assert_eq!(export(&mut number, own, 0), ReturnCode::INVALID_VALUE, "nobody asked for handles");
    assert_eq!(export(&mut number, shared, 1), ReturnCode::INVALID_VALUE, "no flags");
    assert_eq!(export(&mut number, shared, 0), ReturnCode::SUCCESS);
    // SAFETY: the driver has just given it to us.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number.addr() as i32) };
    let [mut first, mut other, mut of_own] = [0; 3];
    done!(cuMemAllocFromPoolAsync(&mut of_own, 64, own, null_mut()));
    done!(cuMemAllocFromPoolAsync(&mut first, 64, shared, null_mut()));
    done!(cuMemAllocFromPoolAsync(&mut other, 64, shared, null_mut()));
    done!(cuMemsetD32_v2(first, 41, 16));
    done!(cuCtxSynchronize());
    let mut data: Exported = [0; 64];
    let mut export = |address: u64| {
        // SAFETY: the place has the bytes of the structure.
        unsafe { cuMemPoolExportPointer((&raw mut data).cast(), address) }
    };
    assert_eq!(export(of_own), ReturnCode::INVALID_VALUE, "its pool is not shared");
    assert_eq!(export(first), ReturnCode::SUCCESS);
    // SAFETY: the data are those of the structure, and the pool is the driver's.
    let code = unsafe { cuMemPoolImportPointer(&mut 0, shared, (&raw mut data).cast()) };
    assert_eq!(code, ReturnCode::INVALID_VALUE, "its own memory");
    let hex: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
    with_child("inner_pool", &descriptor, &hex);
    assert_eq!(read(first, 2), [77, 41], "the other process has written it");
    for address in [first, other, of_own] {
        done!(cuMemFreeAsync(address, null_mut()));
    }
    done!(cuCtxSynchronize());
    done!(cuMemPoolDestroy(shared));
    done!(cuMemPoolDestroy(own));
    assert_eq!(virtual_gpu::leaks(), []);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_pool() {
    let _device = open();
    let (number, hex) = handed_on();
    let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("two digits");
    let mut data: Exported = std::array::from_fn(byte);
    let (mut pool, mut none, mut address) = (null_mut(), null_mut(), 0);
    let open = |pool: &mut CUmemoryPool, number: i32| {
        let number = std::ptr::without_provenance_mut(number as usize);
        // SAFETY: the driver reads the number alone.
        unsafe { cuMemPoolImportFromShareableHandle(pool, number, 1, 0) }
    };
    assert_eq!(open(&mut none, 0), UNKNOWN, "not ours");
    assert_eq!(open(&mut pool, number), ReturnCode::SUCCESS);
    // SAFETY: the place is one of its own.
    let code = unsafe { cuMemAllocFromPoolAsync(&mut address, 64, pool, null_mut()) };
    assert_eq!(code, ReturnCode::INVALID_VALUE, "its memory is the other process's");
    let mut default = null_mut();
    done!(cuDeviceGetDefaultMemPool(&mut default, 0));
    let mut import = |address: &mut u64, pool| {
        // SAFETY: the place has the bytes of the structure.
        unsafe { cuMemPoolImportPointer(address, pool, (&raw mut data).cast()) }
    };
    assert_eq!(import(&mut address, default), ReturnCode::INVALID_VALUE, "another pool");
    assert_eq!(import(&mut address, pool), ReturnCode::SUCCESS);
    assert_eq!(read(address, 16), [41; 16]);
    done!(cuMemsetD32_v2(address, 77, 1));
    done!(cuMemFreeAsync(address, null_mut()));
    // SAFETY: nothing is there any more, and the driver knows it.
    assert_ne!(unsafe { cuMemsetD32_v2(address, 1, 1) }, ReturnCode::SUCCESS, "it is given back");
    done!(cuMemPoolDestroy(pool));
    assert_eq!(virtual_gpu::leaks(), []);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_import() {
    let _device = open();
    let mut handle = 0;
    assert_eq!(import(&mut handle, handed_on().0), ReturnCode::SUCCESS);
    let address = mapped(handle);
    assert_eq!(read(address + GRANULE as u64 - 4, 1), [41]);
    done!(cuMemsetD32_v2(address, 77, 1));
    done!(cuCtxSynchronize());
}
