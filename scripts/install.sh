#!/usr/bin/env bash
# Installs `rbenchstat` from this checkout. Arguments go to `cargo install`, such as --root DIR.
#
#   --as NAME  makes NAME a link to it too: `--as benchstat` for scripts that call the reference
#
# On Linux with glibc the program is linked without shared libraries and at a fixed address, where the system has what
# that takes: it starts in less than two thirds of the time then. Cargo.toml has no way of asking for that.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
link='' root=${CARGO_INSTALL_ROOT:-${CARGO_HOME:-$HOME/.cargo}}
more=()
while [ $# -gt 0 ]; do
  case "$1" in
    --as) link=${2:?--as needs a name} && shift ;;
    --as=*) link=${1#--as=} ;;
    --root) root=${2:?--root needs a folder} && more+=("$1" "$2") && shift ;;
    --root=*) root=${1#--root=} && more+=("$1") ;;
    *) more+=("$1") ;;
  esac
  shift
done
arguments=(--locked --path "$here" --bin rbenchstat)
host=$(rustc -vV | sed -n 's/^host: //p')
# A compiler that does not find the file prints its bare name.
if [[ $host == *-linux-gnu && $(cc -print-file-name=libc.a 2>/dev/null) == /* ]]; then
  export RUSTFLAGS="${RUSTFLAGS-} -C target-feature=+crt-static -C relocation-model=static"
  arguments+=(--target "$host")
fi
# What is asked for instead counts.
[[ " ${more[*]-} " == *" --debug "* || " ${more[*]-} " == *" --profile"* ]] || arguments+=(--profile dist)
cargo install "${arguments[@]}" ${more[@]+"${more[@]}"}
if [ -n "$link" ]; then
  ln -sf rbenchstat "$root/bin/$link"
  echo "$root/bin/$link is rbenchstat"
fi
