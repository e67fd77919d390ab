#!/usr/bin/env bash
# Installs the wheel and the archive made here into a bare Debian without Rust, and says how many seconds it is from there
# to the comparison of two files. Needs root and debootstrap; `just archive wheel` makes what is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

root=${1:-/tmp/rbenchstat-debian}
if [ ! -x "$root/usr/bin/python3" ]; then
  debootstrap --variant=minbase --include=python3,python3-venv,python3-pip bookworm "$root" >"$root.log" 2>&1 ||
    { tail "$root.log" >&2; exit 2; }
fi
rm -rf "$root/work"
mkdir "$root/work"
cp target/distrib/rbenchstat-x86_64-unknown-linux-musl.tar.gz* target/wheels/*.whl testdata/example/*.txt "$root/work"
bare() {
  chroot "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/root bash -euo pipefail -c "cd /work && $1"
}
if bare 'command -v cargo rustc'; then
  echo "$root has Rust" >&2
  exit 2
fi
try() {
  local start end
  start=$(date +%s.%N)
  bare "$2" | tail -n 3
  end=$(date +%s.%N)
  awk -v what="$1" -v start="$start" -v end="$end" 'BEGIN { printf "%s: %.2f s from nothing to the answer\n", what, end - start }'
}
try archive 'sha256sum --quiet --check *.sha256 && tar -xzf rbenchstat-*.tar.gz && rbenchstat-*/rbenchstat old.txt new.txt'
try wheel 'python3 -m venv venv && venv/bin/pip install --quiet --no-index --find-links . rbenchstat && venv/bin/rbenchstat old.txt new.txt'
