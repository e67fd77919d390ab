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
    scripts/long.sh

# Check each crate with the oldest compiler that it says it takes
oldest:
    scripts/oldest.sh

# Run the recorded cases on another PLATFORM, emulated: x86_64-linux, aarch64-linux, s390x-linux or x86_64-windows
platform PLATFORM:
    scripts/platform.sh {{PLATFORM}}

# Make the archive of a release for TARGET; needs dist (cargo install cargo-dist)
archive TARGET="x86_64-unknown-linux-musl":
    scripts/generate.sh generated
    dist build --artifacts=local --target {{TARGET}}

# Make the installers and the Homebrew formula; needs dist
installers:
    dist build --artifacts=global

# Make the wheel for PyPI, install it into a fresh virtual environment and run it
wheel *TARGET:
    scripts/wheel.sh {{TARGET}}

# Check that crates.io would take the packages
package:
    cargo publish --workspace --exclude bench-harness --dry-run

# Write .github/workflows/release.yml again, after a change of dist-workspace.toml; needs dist
release-workflow:
    dist generate

# Install archive and wheel into a bare Debian without Rust and say how long that takes; needs root and debootstrap
from-nothing ROOT="/tmp/rbenchstat-debian":
    scripts/from_nothing.sh {{ROOT}}

# Everything that has to pass before a change lands
ci:
    .ci/run

# Time the program, and a `benchstat` on PATH, on generated workloads; writes docs/performance.md
versus *ARGUMENTS:
    scripts/versus.py {{ARGUMENTS}}

# Show how time and memory grow with the input; writes docs/performance.md and docs/growth.svg
growth *ARGUMENTS:
    scripts/growth.py {{ARGUMENTS}}

# Measure how often the gate is right on simulated runs, as docs/gate.md has it
arena *ARGUMENTS:
    cargo build --release
    scripts/arena.py target/release/rbenchstat {{ARGUMENTS}}

# Time the parts
bench *ARGUMENTS:
    cargo bench -p rbenchstat -- {{ARGUMENTS}}
