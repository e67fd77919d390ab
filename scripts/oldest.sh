#!/usr/bin/env bash
# Checks each crate with the very compiler that it says is the oldest it takes (`rust-version`).
set -euo pipefail
cd "$(dirname "$0")/.."

for package in go-regexp rbenchstat bench-harness; do
  version=$(cargo metadata --no-deps --format-version 1 |
    python3 -c 'import json, sys
print(next(p["rust_version"] for p in json.load(sys.stdin)["packages"] if p["name"] == sys.argv[1]))' "$package")
  echo "$package with Rust $version"
  rustup toolchain list | grep -q "^$version-" || rustup toolchain install "$version" --profile minimal
  # A folder of its own: another compiler's work is of no use to this one.
  CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/oldest" rustup run "$version" cargo check --quiet --locked -p "$package"
done
