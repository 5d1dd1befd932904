"""Runs a PyTorch program without a GPU: `coalesce run --torch -- python SCRIPT`.

A tensor on "cuda" is a tensor of the CPU that is marked. PyTorch's operators compute it on the CPU. A Triton kernel gets the
address of the tensor's storage, which is registered with the virtual driver, and runs on the virtual GPU. The interfaces are
documented (function modes, storages, `triton.runtime.driver.set_active`), but for two that have no such twin:
`torch.cuda._lazy_init`, and `BackwardCFunction.apply`, which runs what a program wrote of a gradient.
"""

import contextlib
import ctypes
import runpy
import sys
import warnings
import weakref

import torch
from torch.autograd.function import BackwardCFunction
from torch.overrides import TorchFunctionMode

USAGE = "`coalesce run --torch` takes `-- python SCRIPT`, `-- python -m MODULE` or `-- python -c TEXT`"
CUDA = torch.device("cuda", 0)
CPU = torch.device("cpu")
MARK = "_coalesce_is_on_device"


class Driver:
    """The virtual driver, as PyTorch's part of the program needs it."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.registered = {}
        self.is_busy = False
        self.addresses_taken = 0
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name}: error {code} of the CUDA driver")

    def attribute(self, number):
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, 0)
        return value.value

    def name(self):
        text = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", text, 256, 0)
        return text.value.decode()

    def bytes(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def wait(self):
        """Waits for kernels, before the host reads or writes what they use."""
        if self.is_busy:
            self.is_busy = False
            self.call("cuCtxSynchronize")

    def register(self, storage):
        """Makes a storage memory of the device until PyTorch frees it."""
        address, size = storage.data_ptr(), storage.nbytes()
        if size and self.registered.get(address) != size:
            self.forget(address)
            self.call("cuMemHostRegister_v2", ctypes.c_void_p(address), ctypes.c_size_t(size), 0)
            self.registered[address] = size
            weakref.finalize(storage, self.forget, address).atexit = False

    def forget(self, address):
        if self.registered.pop(address, None) is not None:
            self.call("cuMemHostUnregister", ctypes.c_void_p(address))


driver = Driver()
CAPABILITY = (driver.attribute(75), driver.attribute(76))


def storage_of(tensor):
    """The storage of a tensor, which its views share; none where a tensor has none, as a sparse one."""
    try:
        return GET_STORAGE(tensor)
    except (NotImplementedError, RuntimeError):
        return None


def is_on_device(tensor):
    return getattr(storage_of(tensor), MARK, False)


def marked(value, on_device):
    """Marks the tensors of a result, by their storages."""
    if isinstance(value, torch.Tensor):
        storage = storage_of(value)
        if storage is not None and getattr(storage, MARK, False) != on_device:
            setattr(storage, MARK, on_device)
    elif isinstance(value, (tuple, list)):
        for one in value:
            marked(one, on_device)
    elif isinstance(value, dict):
        for one in value.values():
            marked(one, on_device)
    return value


def tensors(values):
    """The tensors among arguments, one list deep."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from (one for one in value if isinstance(one, torch.Tensor))


def device_named(value):
    """The device that an argument names, if it names one."""
    if isinstance(value, torch.device):
        return value
    if isinstance(value, str):
        with contextlib.suppress(RuntimeError):
            return torch.device(value)
    return None


def is_cuda(device):
    return device is not None and device.type == "cuda"


GET_STORAGE = torch.Tensor.untyped_storage
GET_DEVICE = torch.Tensor.device.__get__
GET_IS_CUDA = torch.Tensor.is_cuda.__get__
SET_DATA = torch.Tensor.data.__set__
GET_DATA_PTR = torch.Tensor.data_ptr
MOVES = {torch.Tensor.to, torch.Tensor.cuda, torch.Tensor.cpu}
# Change nothing of a tensor but what they are called for.
PLAIN = {torch.Tensor.requires_grad.__get__, torch.Tensor.shape.__get__, torch.Tensor.dtype.__get__, torch.Tensor.stride,
         torch.Tensor.size, torch.Tensor.dim, torch.Tensor.numel, torch.Tensor.is_contiguous, GET_STORAGE}
# Operators whose sums of 16-bit floats a GPU forms in 32 bits, and the CPU does not in their gradients.
SUMMING = {torch.nn.functional.layer_norm, torch.nn.functional.rms_norm, torch.nn.functional.group_norm}
NARROW = {torch.float16, torch.bfloat16}


def widened(function, args, kwargs):
    """Calls an operator with 32-bit floats for those of 16 bits, as which the result comes."""
    dtype = next(tensors(args)).dtype
    wide = lambda value: value.float() if isinstance(value, torch.Tensor) and value.dtype in NARROW else value
    result = function(*map(wide, args), **{name: wide(value) for name, value in kwargs.items()})
    return result.to(dtype) if dtype in NARROW else result


class DeviceMode(TorchFunctionMode):
    """Lets tensors on "cuda" be marked tensors of the CPU."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function == GET_DEVICE:
            return CUDA if is_on_device(args[0]) else function(*args)
        if function == GET_IS_CUDA:
            return is_on_device(args[0])
        if function is torch.Tensor.get_device:
            return 0 if is_on_device(args[0]) else -1
        if function in PLAIN:
            return function(*args, **kwargs)
        if function == GET_DATA_PTR:
            if is_on_device(args[0]):
                driver.register(args[0].untyped_storage())
                driver.is_busy = True
                driver.addresses_taken += 1
            return function(*args)
        driver.wait()
        if function in MOVES:
            return self.move(function, args, kwargs)
        if function == SET_DATA:
            function(*args)
            marked(args[0], is_on_device(args[1]))
            return None
        named = [device_named(kwargs.get("device"))]
        if is_cuda(named[0]) or isinstance(kwargs.get("device"), int):
            named, kwargs["device"] = [CUDA], CPU
        if kwargs.pop("pin_memory", False):
            kwargs["pin_memory"] = False
        if function is torch.Tensor.pin_memory:
            return args[0]
        is_summing = function in SUMMING and any(map(is_on_device, tensors(args)))
        result = widened(function, args, kwargs) if is_summing else function(*args, **kwargs)
        if named[0] is not None:
            return marked(result, is_cuda(named[0]))
        given = list(tensors(args)) + list(tensors(kwargs.values()))
        return marked(result, True) if any(map(is_on_device, given)) else result

    def move(self, function, args, kwargs):
        """`to`, `cuda` and `cpu`: a tensor that changes its device is a copy."""
        tensor, rest = args[0], list(args[1:])
        before = is_on_device(tensor)
        after = before
        if function is torch.Tensor.to:
            for at, value in enumerate(rest):
                if isinstance(value, torch.Tensor):
                    after, rest[at] = is_on_device(value), value.dtype
                elif at == 0 and isinstance(value, int) and not isinstance(value, bool):
                    after, rest[at] = True, CPU
                elif (device := device_named(value)) is not None:
                    after, rest[at] = is_cuda(device), CPU
            if "device" in kwargs:
                device = kwargs["device"]
                after = is_cuda(device_named(device)) if not isinstance(device, int) else True
                kwargs["device"] = CPU
            if "other" in kwargs:
                after = is_on_device(kwargs["other"])
            result = function(tensor, *rest, **kwargs)
        else:
            after, result = function is torch.Tensor.cuda, tensor
        if result is tensor and before != after:
            result = tensor.clone()
        return marked(result, after)


class Stream:
    """The one stream of the program: the driver's default stream."""

    cuda_stream = stream_id = device_index = priority = 0
    device_type = 1
    device = CUDA

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass

    def synchronize(self):
        driver.wait()

    def wait_stream(self, stream):
        pass

    def wait_event(self, event):
        pass

    def record_event(self, event=None):
        event = event or Event()
        event.record()
        return event

    def query(self):
        return True


class Event:
    """An event of the virtual driver, whose times are those that the device's model predicts."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        self.handle = ctypes.c_void_p()
        driver.call("cuEventCreate", ctypes.byref(self.handle), 0)
        weakref.finalize(self, driver.call, "cuEventDestroy_v2", self.handle).atexit = False

    def record(self, stream=None):
        driver.call("cuEventRecord", self.handle, None)

    def wait(self, stream=None):
        pass

    def query(self):
        return True

    def synchronize(self):
        driver.wait()
        driver.call("cuEventSynchronize", self.handle)

    def elapsed_time(self, end):
        end.synchronize()
        milliseconds = ctypes.c_float()
        driver.call("cuEventElapsedTime", ctypes.byref(milliseconds), self.handle, end.handle)
        return milliseconds.value


class Properties:
    """What scripts ask of a device."""

    name = driver.name()
    major, minor = CAPABILITY
    multi_processor_count = driver.attribute(16)
    total_memory = driver.bytes()[1]
    warp_size = 32
    regs_per_multiprocessor = driver.attribute(82)
    shared_memory_per_block = driver.attribute(8)
    shared_memory_per_block_optin = driver.attribute(97)
    shared_memory_per_multiprocessor = driver.attribute(81)
    max_threads_per_multi_processor = driver.attribute(39)
    max_threads_per_block = driver.attribute(1)
    L2_cache_size = driver.attribute(38)
    is_integrated = False
    gcnArchName = ""


class Generator(torch.Generator):
    """A generator of the CPU, for whatever device it is asked."""

    def __new__(cls, device="cpu"):
        return super().__new__(cls, CPU)


RUN_BACKWARD = BackwardCFunction.apply


def backward(context, *gradients):
    """Runs the backward half of a function written in Python, whose gradients are where its saved tensors are."""
    with DeviceMode():
        saved = list(tensors(context.saved_tensors))
        if not saved or any(map(is_on_device, saved)):
            marked(gradients, True)
        return RUN_BACKWARD(context, *gradients)


def nothing():
    """A function of its own, for what the virtual device does not need; PyTorch tells functions apart by identity."""
    return lambda *args, **kwargs: None


def nowhere():
    """A context of its own that changes nothing."""

    @contextlib.contextmanager
    def context(*args, **kwargs):
        yield

    return context


def patch():
    """Lets `torch.cuda` answer what scripts ask."""
    # PyTorch's own CUDA runtime, which nobody needs here, does not start.
    warnings.filterwarnings("ignore", message="CUDA initialization")
    stream = Stream()
    answers = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_name": lambda device=None: Properties.name,
        "get_device_properties": lambda device=None: Properties,
        "get_device_capability": lambda device=None: CAPABILITY,
        "get_arch_list": lambda: [f"sm_{CAPABILITY[0]}{CAPABILITY[1]}"],
        "is_bf16_supported": lambda *args, **kwargs: CAPABILITY >= (8, 0),
        "synchronize": lambda device=None: driver.wait(),
        "current_stream": lambda device=None: stream,
        "default_stream": lambda device=None: stream,
        "mem_get_info": lambda device=None: driver.bytes(),
        "is_current_stream_capturing": lambda: False,
        "Stream": Stream,
        "ExternalStream": type("ExternalStream", (Stream,), {}),
        "Event": Event,
        "stream": nowhere(),
        "device": nowhere(),
        "device_of": nowhere(),
        "manual_seed": nothing(),
        "manual_seed_all": nothing(),
        "get_rng_state": lambda device=None: torch.get_rng_state(),
        "set_rng_state": lambda state, device=None: torch.set_rng_state(state),
    }
    unneeded = ("init", "_lazy_init", "set_device", "set_stream", "empty_cache", "reset_peak_memory_stats", "ipc_collect")
    for name in unneeded:
        answers[name] = nothing()
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
        answers[name] = lambda device=None, name=name: sum(driver.registered.values())
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)
    torch.Generator = Generator
    BackwardCFunction.apply = backward
    # The launcher of Triton asks for it by this name.
    torch.Tensor.data_ptr = lambda tensor: DeviceMode.__torch_function__(None, GET_DATA_PTR, (), (tensor,))


def bench(function, warmup=0, rep=0, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Times a function by the model's prediction, which one run tells; in milliseconds, as `triton.testing.do_bench`.

    What hands no memory to a kernel is PyTorch's on the CPU, for which there is no prediction: its time is not a number.
    """
    start, end = Event(), Event()
    taken = driver.addresses_taken
    start.record()
    function()
    end.record()
    time = max(start.elapsed_time(end), 1e-6) if driver.addresses_taken > taken else float("nan")
    if quantiles is not None:
        return [time] * len(quantiles)
    return [time] if return_mode == "all" else time


def use_triton():
    """Lets Triton launch on the virtual device, if there is a Triton."""
    try:
        import triton
        from triton.backends.nvidia.driver import CudaDriver
    except ImportError:
        return

    class VirtualDriver(CudaDriver):
        """Triton's driver, with the one stream of the program."""

        def __init__(self):
            super().__init__()
            self.get_current_device = torch.cuda.current_device
            self.set_current_device = nothing()
            self.get_current_stream = lambda device=None: 0
            self.get_device_capability = torch.cuda.get_device_capability

        def get_active_torch_device(self):
            return CUDA

        def get_benchmarker(self):
            return bench

        def get_empty_cache_for_benchmark(self):
            return None

        def clear_cache(self, cache):
            pass

    triton.runtime.driver.set_active(VirtualDriver())
    import triton.testing

    triton.testing.do_bench = bench


def run(arguments):
    """Runs what python's command line names."""
    if not arguments:
        sys.exit(f"error: {USAGE}")
    kind, rest = arguments[0], arguments[1:]
    with DeviceMode():
        if kind == "-c" and rest:
            sys.argv = ["-c", *rest[1:]]
            exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
        elif kind == "-m" and rest:
            sys.argv = rest
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        elif not kind.startswith("-"):
            sys.argv = arguments
            sys.path[0] = str(__import__("pathlib").Path(kind).resolve().parent)
            runpy.run_path(kind, run_name="__main__")
        else:
            sys.exit(f"error: `{kind}` is an option of python: {USAGE}")


if __name__ == "__main__":
    patch()
    use_triton()
    run(sys.argv[1:])
