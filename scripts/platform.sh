#!/usr/bin/env bash
# Builds the program for another platform and runs the recorded cases on it, emulated.
#
#   scripts/platform.sh x86_64-linux|aarch64-linux|s390x-linux|x86_64-windows [--install]
# With --install, Debian's cross compiler and emulator are installed first, which takes root. PROFILE is another profile than
# `release`, such as `dev`, which builds sooner.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  x86_64-linux) target=x86_64-unknown-linux-musl packages=() linker='' runner='' ;;
  aarch64-linux)
    target=aarch64-unknown-linux-musl packages=(qemu-user gcc-aarch64-linux-gnu)
    linker=aarch64-linux-gnu-gcc runner=qemu-aarch64
    ;;
  # Its most significant byte comes first.
  s390x-linux)
    target=s390x-unknown-linux-gnu packages=(qemu-user gcc-s390x-linux-gnu libc6-dev-s390x-cross)
    linker=s390x-linux-gnu-gcc runner='qemu-s390x -L /usr/s390x-linux-gnu'
    ;;
  x86_64-windows)
    target=x86_64-pc-windows-gnu packages=(wine64 gcc-mingw-w64-x86-64)
    linker=x86_64-w64-mingw32-gcc runner=wine
    ;;
  *)
    echo "usage: $0 x86_64-linux|aarch64-linux|s390x-linux|x86_64-windows [--install]" >&2
    exit 2
    ;;
esac
if [ "${2:-}" = --install ] && [ ${#packages[@]} -gt 0 ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${packages[@]}" >/dev/null
fi
rustup target add "$target" >/dev/null 2>&1
name=$(tr 'a-z-' 'A-Z_' <<<"$target")
if [ -n "$linker" ]; then export "CARGO_TARGET_${name}_LINKER=$linker"; fi
profile=${PROFILE:-release}
cargo build --locked --profile "$profile" -p rbenchstat --target "$target"
folder=$(cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
if [ "$profile" = dev ]; then profile=debug; fi
program=$folder/$target/$profile/rbenchstat
if [ -f "$program.exe" ]; then program=$program.exe; fi
export WINEDEBUG=-all
if [ "$runner" = wine ]; then
  # The wine of Debian 12 lacks this library, of which Rust uses one function.
  library=$(dirname "$program")/bcryptprimitives
  cat >"$library.c" <<'END'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) { return SystemFunction036(data, (ULONG)length); }
END
  "$linker" -shared -o "$library.dll" "$library.c" -ladvapi32
fi
$runner "$program" --version
CONFORMANCE_PROGRAM="$runner $program" cargo test --locked -p rbenchstat --test conformance -- --nocapture every_recorded_run
