#!/usr/bin/env bash
# Makes the wheel for a target (default: static, for this machine), installs it into a fresh virtual environment, and runs it.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:-$(uname -m)-unknown-linux-musl}
rustup target add "$target" >/dev/null 2>&1
python3 -m venv target/wheel-tools
scripts=bin
if [ -d target/wheel-tools/Scripts ]; then scripts=Scripts; fi
"target/wheel-tools/$scripts/pip" install --quiet 'maturin>=1.9,<2'
rm -rf target/wheels
# As the archives are built, so that both come from one build.
if [[ $target == *-musl ]]; then export RUSTFLAGS='-Ctarget-feature=+crt-static'; fi
"target/wheel-tools/$scripts/maturin" build --locked --target "$target" --out target/wheels ${PROFILE:+--profile "$PROFILE"}
ls target/wheels
if [[ $target == $(uname -m)* || $target == aarch64-apple-darwin ]]; then
  rm -rf target/wheel-trial
  python3 -m venv target/wheel-trial
  "target/wheel-trial/$scripts/pip" install --quiet --no-index --find-links target/wheels rbenchstat
  "target/wheel-trial/$scripts/rbenchstat" testdata/example/old.txt testdata/example/new.txt
fi
