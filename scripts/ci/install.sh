#!/usr/bin/env bash
# Makes `rbenchstat` a command: takes the one that is there, else builds it from the folder that this script is in.
set -euo pipefail

if command -v rbenchstat >/dev/null; then
  rbenchstat --version
  exit
fi
exec bash "$(dirname "$0")/../install.sh" --quiet
