#!/usr/bin/env bash
# Sets the account that the repository lives under, wherever it is named: scripts/owner.sh NAME
#
# Cargo.toml's `repository` is the one place that counts; a test checks that the others agree.
set -euo pipefail
cd "$(dirname "$0")/.."

name=${1:?usage: $0 NAME}
if [[ ! $name =~ ^[A-Za-z0-9][A-Za-z0-9-]*$ ]]; then
  echo "$name is no name of an account" >&2
  exit 2
fi
old=$(sed -n 's|^repository = "https://github.com/\([^/]*\)/rbenchstat"|\1|p' Cargo.toml)
grep -rlE "\b$old/rbenchstat\b" --include='*.toml' --include='*.md' --include='*.yml' --exclude-dir=target --exclude-dir=.git . |
  while read -r file; do
    sed "s|\b$old/rbenchstat\b|$name/rbenchstat|g" "$file" >"$file.new"
    cat "$file.new" >"$file"
    rm "$file.new"
  done
