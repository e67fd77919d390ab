# The everyday commands; `just` alone lists them.

_list:
    @just --list

# Run all tests
test:
    cargo test --workspace

# Check format and lints
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# Format everything
fmt:
    cargo fmt --all

# Run the recorded cases, or those whose names contain NAME
conformance NAME="":
    CASE="{{NAME}}" cargo test --test conformance -- --nocapture

# Compare with a `benchstat` on PATH on CASES random inputs, from SEED on
differential CASES="1000" SEED="1":
    DIFFERENTIAL_CASES={{CASES}} DIFFERENTIAL_SEED={{SEED}} cargo test --test differential -- --nocapture

# Fuzz TARGET (line, number, filter, projection, decode or run) for SECONDS; needs cargo-fuzz and a nightly compiler
fuzz TARGET SECONDS="60":
    mkdir -p fuzz/grown/{{TARGET}}
    cargo +nightly fuzz run --sanitizer none {{TARGET}} fuzz/grown/{{TARGET}} fuzz/corpus/{{TARGET}} -- \
        -dict=fuzz/dictionaries/{{TARGET}}.dict -max_total_time={{SECONDS}} -rss_limit_mb=2048 -timeout=20

# Run the tests that take a while without optimisation
long:
    cargo test --release --test faults --test enumeration -- --ignored

# Everything that has to pass before a change lands
ci:
    .ci/run

# Time the program, and a `benchstat` on PATH, on generated workloads; writes docs/performance.md
versus *ARGUMENTS:
    scripts/versus.py {{ARGUMENTS}}

# Show how time and memory grow with the input; writes docs/performance.md and docs/growth.svg
growth *ARGUMENTS:
    scripts/growth.py {{ARGUMENTS}}

# Time the parts
bench *ARGUMENTS:
    cargo bench -p rbenchstat -- {{ARGUMENTS}}
