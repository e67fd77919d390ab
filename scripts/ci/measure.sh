#!/usr/bin/env bash
# Measures two commits of the Go module in this folder in turns, into base.txt and head.txt.
#
# What the machine does meanwhile then hits both sides alike, so that it does not look like a change of the code.
#   BASE_REF   the commit to compare with
#   HEAD_REF   the commit to judge (default: HEAD)
#   COUNT      how often each benchmark runs on each side (default: 10)
#   BENCH      which benchmarks, a regular expression (default: .)
#   PACKAGES   which packages (default: ./...)
#   BENCHTIME  how long one run takes, as `go test -benchtime` (default: Go's own)
set -euo pipefail

head_ref=${HEAD_REF:-HEAD}
count=${COUNT:-10}
read -r -a packages <<<"${PACKAGES:-./...}"
flags=(-run '^$' -bench "${BENCH:-.}" -count 1)
if [ -n "${BENCHTIME:-}" ]; then
  flags+=(-benchtime "$BENCHTIME")
fi

within=$(git rev-parse --show-prefix)
work=$(mktemp -d)
trap 'git worktree remove --force "$work/base" 2>/dev/null || true
      git worktree remove --force "$work/head" 2>/dev/null || true
      rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/base" "$BASE_REF"
git worktree add --quiet --detach "$work/head" "$head_ref"

: >base.txt
: >head.txt
results=$PWD
measure() {
  (cd "$work/$1/$within" && go test "${flags[@]}" "${packages[@]}") >>"$results/$1.txt"
}
for ((round = 1; round <= count; round++)); do
  # Each side goes first every other time.
  if ((round % 2)); then
    measure base
    measure head
  else
    measure head
    measure base
  fi
done
