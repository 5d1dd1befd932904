# Adds one to each of 1,000 numbers on the device: `mojo run --target-accelerator=sm_90a add.mojo`.

from max.gpu import global_idx
from max.gpu.host import DeviceContext


def add_one(x: Pointer[Float32, MutAnyOrigin], n: Int32):
    var i = global_idx.x
    if i < Int(n):
        x[unsafe_offset=i] += 1


def main() raises:
    var wrong = 0
    with DeviceContext() as context:
        var numbers = context.enqueue_create_buffer[DType.float32](1024)
        numbers.enqueue_fill(2)
        context.enqueue_function[add_one](numbers, Int32(1000), grid_dim=4, block_dim=256)
        with numbers.map_to_host() as host:
            for i in range(1024):
                if host[i] != Float32(3 if i < 1000 else 2):
                    wrong += 1
    print("0 passed, 1 failed, 0 skipped" if wrong else "1 passed, 0 failed, 0 skipped")
