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

# Everything that has to pass before a change lands
ci:
    .ci/run
