#!/usr/bin/env bash
# Writes the manual page and the completions of this checkout into a folder (default: generated).
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
target=${1:-$here/generated}
mkdir -p "$target/man" "$target/completions"
generate() {
  cargo run --quiet --manifest-path "$here/Cargo.toml" -p rbenchstat -- --generate "$1" >"$target/$2"
}
generate man man/rbenchstat.1
generate bash completions/rbenchstat.bash
generate elvish completions/rbenchstat.elv
generate fish completions/rbenchstat.fish
generate powershell completions/_rbenchstat.ps1
generate zsh completions/_rbenchstat
