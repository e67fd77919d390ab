#!/usr/bin/env bash
# Installs `rbenchstat` from this checkout. Arguments go to `cargo install`, such as --root DIR.
#
# On Linux with glibc the program is linked without shared libraries and at a fixed address, where the system has what
# that takes: it starts in less than two thirds of the time then. Cargo.toml has no way of asking for that.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
arguments=(--locked --path "$here" --bin rbenchstat)
host=$(rustc -vV | sed -n 's/^host: //p')
# A compiler that does not find the file prints its bare name.
if [[ $host == *-linux-gnu && $(cc -print-file-name=libc.a 2>/dev/null) == /* ]]; then
  export RUSTFLAGS="${RUSTFLAGS-} -C target-feature=+crt-static -C relocation-model=static"
  arguments+=(--target "$host")
fi
# What is asked for instead counts.
[[ " $* " == *" --debug "* || " $* " == *" --profile "* ]] || arguments+=(--profile dist)
exec cargo install "${arguments[@]}" "$@"
