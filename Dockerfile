# Checks every pattern without a GPU and without a CUDA toolkit: rustup, which the image has, brings the compiler that
# rust-toolchain.toml names.
FROM rust:1-slim-trixie
# Tests ask git what is kept in the repository.
RUN apt-get update --quiet=2 \
    && apt-get install --yes --quiet=2 --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /coalesce
COPY . .
RUN cargo xtask test
