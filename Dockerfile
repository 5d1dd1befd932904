# Checks every pattern without a GPU and without a CUDA toolkit: rustup, which the image has, brings the compiler that
# rust-toolchain.toml names.
FROM rust:1-slim-trixie
WORKDIR /coalesce
COPY . .
RUN cargo xtask test
