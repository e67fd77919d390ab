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
#   TAGS       build tags, as `go test -tags` (default: none)
#   FLAGS      further flags for `go test`, separated by blanks or line breaks
#   SETUP      a command of the shell that is run once in each side's folder first
# A `go test` that fails is told on standard error and leaves what it printed in the file of its side. The rest is measured
# all the same, and this script ends with 0: the gate finds the failure in the file, and a report can say so. The status is
# 2 where nothing can be measured, and never 1, which is the gate's.
set -euo pipefail

refuse() {
  echo "measure.sh: $1" >&2
  exit 2
}

count=${COUNT:-10}
# To the end, and not only the first line; `read` calls that a failure.
IFS=$' \t\n' read -r -d '' -a packages <<<"${PACKAGES:-./...}" || true
IFS=$' \t\n' read -r -d '' -a more <<<"${FLAGS:-}" || true
flags=(-run '^$' -bench "${BENCH:-.}" -benchmem -count 1)
if [ -n "${BENCHTIME:-}" ]; then
  flags+=(-benchtime "$BENCHTIME")
fi
if [ -n "${TAGS:-}" ]; then
  flags+=(-tags "$TAGS")
fi
flags+=(${more[@]+"${more[@]}"})

if [ -z "${BASE_REF:-}" ]; then
  refuse "BASE_REF is not set: it names the commit to compare with"
fi
# More digits could be too large for the shell to count.
if [[ ! $count =~ ^[1-9][0-9]{0,8}$ ]]; then
  refuse "COUNT is '$count': it has to be a whole number, 1 or more"
fi
command -v go >/dev/null || refuse "there is no command go"
within=$(git rev-parse --show-prefix) || refuse "this folder is in no git repository"
commit_of() {
  git rev-parse --verify --quiet "$2^{commit}" ||
    refuse "$1 is '$2', which is no commit of this repository (a checkout without history has few)"
}
base=$(commit_of BASE_REF "$BASE_REF")
head=$(commit_of HEAD_REF "${HEAD_REF:-HEAD}")

clean_up() {
  local status=$?
  git worktree remove --force "$work/base" 2>/dev/null || true
  git worktree remove --force "$work/head" 2>/dev/null || true
  rm -rf "$work"
  if [ "$status" -eq 1 ]; then exit 2; fi
}
work=$(mktemp -d) || exit 2
trap clean_up EXIT
# `go test` ends as if it had merely failed when it is interrupted; without this, the next round would start.
trap 'exit 130' INT
git worktree add --quiet --detach "$work/base" "$base"
git worktree add --quiet --detach "$work/head" "$head"

if [ -n "${SETUP:-}" ]; then
  for side in base head; do
    (cd "$work/$side/$within" && bash -euo pipefail -c "$SETUP") || refuse "SETUP failed on $side"
  done
fi

: >base.txt
: >head.txt
failures=0
measure() {
  local side=$1 commit=$2 status=0
  (cd "$work/$side/$within" && go test "${flags[@]}" "${packages[@]}") >"$work/output" || status=$?
  cat "$work/output" >>"$side.txt"
  if [ "$status" -eq 0 ]; then return; fi
  failures=$((failures + 1))
  echo "measure.sh: go test failed with status $status on $side, commit $commit, round $round of $count; its last lines:" >&2
  tail -n 20 "$work/output" | sed 's/^/  /' >&2
  # Killed, or unable to start, it does not say so itself, and what it printed could end within a line.
  if ! grep -q '^FAIL' "$work/output"; then
    printf '\nFAIL\tgo test ended with status %s\n' "$status" >>"$side.txt"
  fi
}
for ((round = 1; round <= count; round++)); do
  # Each side goes first every other time.
  if ((round % 2)); then
    measure base "$base"
    measure head "$head"
  else
    measure head "$head"
    measure base "$base"
  fi
done
if [ "$failures" -gt 0 ]; then
  echo "measure.sh: $failures of $((2 * count)) times go test failed: the gate will not pass without -allow failed" >&2
fi
