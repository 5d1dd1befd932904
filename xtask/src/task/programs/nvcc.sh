#!/bin/sh
# nvcc, with the architecture and the runtime that `cargo xtask programs` wants: what a Makefile says of these is dropped.
arch=${COALESCE_ARCH-compute_90}
skip=
for argument do
    shift
    if [ -n "$skip" ]; then
        skip=
        continue
    fi
    case $argument in
        -arch | -gencode | -code | -cudart | --gpu-architecture | --generate-code | --gpu-code | --cudart) skip=1; continue ;;
        -arch=* | -gencode=* | -code=* | -cudart=* | --gpu-architecture=* | --generate-code=* | --gpu-code=* | --cudart=*) continue ;;
        # Device code is linked as machine code.
        -rdc=true | -rdc | -dc | -dlink | --relocatable-device-code=true | --relocatable-device-code | --device-c | --device-link) arch=sm_90 ;;
    esac
    set -- "$@" "$argument"
done
# CUDA 13 has no longer the first name, which old programs call.
exec "$COALESCE_NVCC" -DcudaThreadSynchronize=cudaDeviceSynchronize -arch=$arch -cudart shared -lineinfo -L "$COALESCE_TOOLKIT_LIB" "$@"
