#!/usr/bin/env bash
# Runs the tests that take a while without optimisation: simulations, enumerations, and faults that need much time or memory.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --release -p rbenchstat -- --ignored "$@"
