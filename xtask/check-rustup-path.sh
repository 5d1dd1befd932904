#!/usr/bin/env bash
# Exercises the compiler path of a rustup toolchain with rust-src, offline. Not part of CI.
#
#   xtask/check-rustup-path.sh TOOLCHAIN LIBRARY [KERNELS]
#
# TOOLCHAIN  a toolchain folder, such as ~/.rustup/toolchains/nightly-x86_64-unknown-linux-gnu
# LIBRARY    the `library` folder of the standard library's sources for about that version
# KERNELS    the kernels crate, `kernels` without it
#
# The toolchain is copied, gets the sources as its rust-src, and comes first on PATH; then the
# kernels are built for sm_90, first with `core` from source, then with that `core` as if prebuilt.
set -euo pipefail
toolchain=$1 library=$2 kernels=${3:-kernels}
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -a "$toolchain" "$work/toolchain"
mkdir -p "$work/toolchain/lib/rustlib/src/rust"
cp -a "$library" "$work/toolchain/lib/rustlib/src/rust/library"

cargo build --quiet --release --package coalesce-cuda-builder --example ptx
build() {
    # Only the copy is on PATH; the system's tools are found by their own paths.
    PATH="$work/toolchain/bin:/usr/bin:/bin" CARGO_TARGET_DIR="$work/target" RUSTUP_AUTO_INSTALL=0 \
        "${CARGO_TARGET_DIR:-target}/release/examples/ptx" "$kernels" 90
}
echo "== core from source"
build
prebuilt="$work/toolchain/lib/rustlib/nvptx64-nvidia-cuda/lib"
mkdir -p "$prebuilt"
cp "$work"/target/ptx/core-*/lib/rustlib/nvptx64-nvidia-cuda/lib/*.rlib "$prebuilt"
rm -rf "$work/toolchain/lib/rustlib/src" "$work/target"
echo "== core prebuilt"
build
