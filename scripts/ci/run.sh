#!/usr/bin/env bash
# Measures two commits of the Go module in this folder in turns, gates, and writes all reports into a folder.
#
#   BASE_REF   the commit to compare with (default: where head branched off the default branch)
#   HEAD_REF   the commit to judge (default: the working tree)
#   COUNT, BENCH, BENCHTIME, CPU, TAGS, SETUP, COMMAND  as the flags of `rbenchstat run` that are called so
#   PACKAGES   which packages, separated by blanks or line breaks (default: ./...)
#   FLAGS      further flags for `go test -c`, separated by blanks or line breaks
#   FAIL_ON    what fails the gate: regression, unproven or change (default: regression)
#   THRESHOLD  up to where changes do not matter (default: rbenchstat's own)
#   ALLOW      what may stand in the way of an answer, as `-allow` (default: nothing)
#   ARGUMENTS  further arguments for rbenchstat, separated by blanks or line breaks
#   ID         tells this comment from others on the same pull request (default: default)
#   REPORTS    the folder (default: rbenchstat-report)
# Reports of an earlier run are removed first: where this one has no answer (status 2), they would be posted as if they
# were its own.
# In GitHub Actions the exit status of the gate goes into the step's output `status`, so that reports are posted first;
# elsewhere this script ends with it.
set -euo pipefail

reports=${REPORTS:-rbenchstat-report}
# Status 1 is the gate's.
mkdir -p "$reports" || exit 2
rm -f "$reports"/comment.md "$reports"/report.json "$reports"/report.html || exit 2

flags=(-count "${COUNT:-10}" -into "$reports/results")
if [ -n "${BASE_REF:-}" ]; then flags+=("$BASE_REF" -exact-base -base-ref "$BASE_REF"); fi
if [ -n "${HEAD_REF:-}" ]; then flags+=(-head "$HEAD_REF" -head-ref "$HEAD_REF"); fi
if [ -n "${COMMAND:-}" ]; then
  flags+=(-command "$COMMAND")
else
  flags+=(-bench "${BENCH:-.}")
  if [ -n "${BENCHTIME:-}" ]; then flags+=(-benchtime "$BENCHTIME"); fi
  if [ -n "${CPU:-}" ]; then flags+=(-cpu "$CPU"); fi
  if [ -n "${TAGS:-}" ]; then flags+=(-tags "$TAGS"); fi
  # To the end, and not only the first line; `read` calls that a failure.
  IFS=$' \t\n' read -r -d '' -a packages <<<"${PACKAGES:-./...}" || true
  flags+=(-packages "${packages[*]}")
fi
if [ -n "${SETUP:-}" ]; then flags+=(-setup "$SETUP"); fi
flags+=(-fail-on "${FAIL_ON:-regression}" -id "${ID:-default}")
if [ -n "${THRESHOLD:-}" ]; then flags+=(-threshold "$THRESHOLD"); fi
if [ -n "${ALLOW:-}" ]; then flags+=(-allow "$ALLOW"); fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then flags+=(-out "comment=$GITHUB_STEP_SUMMARY"); fi
flags+=(-out "comment=$reports/comment.md" -out "json=$reports/report.json" -out "html=$reports/report.html" -format pretty)
IFS=$' \t\n' read -r -d '' -a more <<<"${ARGUMENTS:-}" || true
flags+=(${more[@]+"${more[@]}"})
IFS=$' \t\n' read -r -d '' -a more <<<"${FLAGS:-}" || true
if [ -n "${more[*]-}" ]; then flags+=(-- ${more[@]+"${more[@]}"}); fi

status=0
rbenchstat -run "${flags[@]}" || status=$?
case "$status" in
  0) next='' ;;
  1) next='mend the rows to blame above, or, if they are meant, waive them with a reason and a date (-waivers)' ;;
  3) next='do what the reasons above say, or let one of them pass with -allow' ;;
  130) next='run this again: it was ended before all was measured' ;;
  *) next='mend the argument or file that the log of this step names' ;;
esac
if [ "$status" = 0 ] && [ ! -f "$reports/comment.md" ]; then
  # A comment on what an earlier commit did must not stay.
  told='Nothing to measure: every package with benchmarks is the same program on both sides.'
  printf '<!-- rbenchstat:v1 id=%s -->\n%s\n' "${ID:-default}" "$told" >"$reports/comment.md"
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then printf '%s\n' "$told" >>"$GITHUB_STEP_SUMMARY"; fi
fi
if [ -n "$next" ]; then
  echo "What to do next: $next." >&2
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then printf '\n**What to do next:** %s.\n' "$next" >>"$GITHUB_STEP_SUMMARY"; fi
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  echo "status=$status" >>"$GITHUB_OUTPUT"
else
  exit "$status"
fi
