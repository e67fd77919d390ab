#!/usr/bin/env bash
# Makes `rbenchstat` a command: takes the one that is there, else the release of this version, else builds it from the folder
# that this script is in.
#
#   ACTION_REPOSITORY  OWNER/NAME that releases are fetched from; without it, none is
#   ACTION_REF         the tag or commit that this folder is of: only that version's own release is taken
#   FOLDER             where to put the program (default: RUNNER_TEMP/rbenchstat, else ~/.local/bin)
#   BUILD              `later` to only say, as `build` and `key` in the step's outputs, that it has to be built
# The archive has to have the checksum that the release says.
set -euo pipefail

if command -v rbenchstat >/dev/null; then
  rbenchstat --version
  exit
fi

here=$(cd "$(dirname "$0")/../.." && pwd)
folder=${FOLDER:-${RUNNER_TEMP:+$RUNNER_TEMP/rbenchstat}}
folder=${folder:-$HOME/.local/bin}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/Cargo.toml" | head -n 1)

# What the release calls this platform.
platform() {
  local system machine
  system=$(uname -s)
  machine=$(uname -m)
  case "$machine" in
    arm64) machine=aarch64 ;;
    amd64) machine=x86_64 ;;
  esac
  case "$system-$machine" in
    Linux-x86_64 | Linux-aarch64) echo "$machine-unknown-linux-musl.tar.gz" ;;
    Darwin-x86_64 | Darwin-aarch64) echo "$machine-apple-darwin.tar.gz" ;;
    MINGW*-x86_64 | MSYS*-x86_64 | CYGWIN*-x86_64) echo x86_64-pc-windows-msvc.zip ;;
    *) return 1 ;;
  esac
}

checksum() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# Whether the release's tag is what this folder is of: a tag by its name, a commit by what the tag points at.
is_own_release() {
  local address=$1
  case "${ACTION_REF:-}" in
    v[0-9]*) return 0 ;;
    *[!0-9a-f]* | '') return 1 ;;
    *) git ls-remote "$address" "refs/tags/v$version" "refs/tags/v$version^{}" 2>/dev/null | grep -q "^$ACTION_REF" ;;
  esac
}

fetch() {
  curl --silent --show-error --fail --location --retry 2 --output "$2" "$1"
}

# download SERVER: the program of this version's release there.
download() {
  local archive address release work wanted got
  if [ -z "${ACTION_REPOSITORY:-}" ] || ! archive=rbenchstat-$(platform); then return 1; fi
  address=$1/$ACTION_REPOSITORY
  is_own_release "$address" || return 1
  release=$address/releases/download/v$version
  work=$(mktemp -d)
  if ! fetch "$release/$archive" "$work/$archive" || ! fetch "$release/$archive.sha256" "$work/$archive.sha256"; then
    rm -rf "$work"
    return 1
  fi
  wanted=$(cut -d ' ' -f 1 "$work/$archive.sha256")
  got=$(checksum "$work/$archive")
  if [ "$wanted" != "$got" ]; then
    echo "install.sh: $release/$archive has the checksum $got and not $wanted" >&2
    exit 2
  fi
  mkdir -p "$folder"
  case "$archive" in
    *.zip) unzip -q -o -j "$work/$archive" rbenchstat.exe -d "$folder" ;;
    *) tar -xzf "$work/$archive" -C "$folder" --strip-components 1 "${archive%.tar.gz}/rbenchstat" ;;
  esac
  rm -rf "$work"
}

# A host of one's own may have a copy of this repository, or take it from GitHub.
download_from_any() {
  local server=${GITHUB_SERVER_URL:-https://github.com}
  download "$server" || { [ "$server" != https://github.com ] && download https://github.com; }
}

# The next steps find what is in the folder.
offer() {
  if [ -n "${GITHUB_PATH:-}" ]; then echo "$folder" >>"$GITHUB_PATH"; fi
  "$folder/rbenchstat" --version
}

# What an earlier run built and kept.
if [ -x "$folder/rbenchstat" ] || download_from_any; then
  offer
  exit
fi
if [ "${BUILD:-}" = later ]; then
  sources=$(cd "$here" && find src go-regexp/src Cargo.toml Cargo.lock -type f | LC_ALL=C sort)
  key=$(cd "$here" && while read -r source; do checksum "$source"; done <<<"$sources" >"${RUNNER_TEMP:-/tmp}/rbenchstat-key" &&
    checksum "${RUNNER_TEMP:-/tmp}/rbenchstat-key")
  printf 'build=yes\nkey=%s\n' "$key" >>"$GITHUB_OUTPUT"
  echo "there is no release for this version and platform: it will be built, or taken from the cache"
  exit
fi
if ! command -v cargo >/dev/null; then
  echo "install.sh: there is no release of rbenchstat $version for this platform, and no cargo to build it with: install Rust first" >&2
  exit 2
fi
work=$(mktemp -d)
bash "$here/scripts/install.sh" --quiet --profile release --root "$work"
mkdir -p "$folder"
mv "$work/bin/"rbenchstat* "$folder/"
rm -rf "$work"
offer
