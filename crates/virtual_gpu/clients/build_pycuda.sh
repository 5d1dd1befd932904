#!/bin/sh
# Builds and installs pycuda from its unpacked source package with the wheels that `table.py` names and no toolkit:
#     clients/bin/pip install wheel setuptools numpy pytools platformdirs mako
#     clients/bin/pip download --no-deps --no-build-isolation --no-binary pycuda pycuda==2026.1 && tar xzf pycuda-2026.1.tar.gz
#     crates/virtual_gpu/clients/build_pycuda.sh clients/bin/python pycuda-2026.1 target/release/libvirtual_libcuda.so
set -eu
python=$(realpath -s "$1") sources=$2 library=$(realpath "$3")
toolkit=$("$python" -c 'import pathlib, sys; print(next(pathlib.Path(sys.prefix).glob("lib/python*/site-packages/nvidia/cu*")))')
link=$(mktemp -d)
trap 'rm -r "$link"' EXIT
ln -s "$library" "$link/libcuda.so"
cd "$sources"
rm -f siteconf.py
"$python" configure.py --cuda-root="$toolkit" --cuda-inc-dir="$toolkit/include,$toolkit/include/cccl" \
    --no-cuda-enable-curand --cudadrv-lib-dir="$link" --cudart-lib-dir="$toolkit/lib"
"$python" -m pip install --no-build-isolation --no-deps .
