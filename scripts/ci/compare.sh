#!/usr/bin/env bash
# Compares base.txt and head.txt, gates, and writes all reports into a folder.
#
#   REPORTS    the folder (default: rbenchstat-report)
#   FAIL_ON    what fails the gate: regression, unproven or change (default: regression)
#   THRESHOLD  up to where changes do not matter (default: rbenchstat's own)
#   ALLOW      what may stand in the way of an answer, as `-allow` (default: nothing)
#   ID         tells this comment from others on the same pull request (default: default)
#   BASE_REF, HEAD_REF  named in the reports
#   ARGUMENTS  further arguments, separated by blanks or line breaks
# A base without any benchmark, as before the first one was written, is nothing to fail for: head is shown on its own.
# Reports of an earlier run are removed first: where this one has no answer (status 2), they would be posted as if they
# were its own.
# In GitHub Actions the exit status of the gate goes into the step's output `status`, so that reports are posted first;
# elsewhere this script ends with it.
set -euo pipefail

reports=${REPORTS:-rbenchstat-report}
# Status 1 is the gate's.
mkdir -p "$reports" || exit 2
rm -f "$reports"/comment.md "$reports"/report.json "$reports"/report.html || exit 2
for input in base.txt head.txt; do
  # The folder may be this one.
  if [ ! "$reports/$input" -ef "$input" ]; then rm -f "$reports/$input" || exit 2; fi
done
flags=(-fail-on "${FAIL_ON:-regression}" -id "${ID:-default}")
if [ -n "${THRESHOLD:-}" ]; then flags+=(-threshold "$THRESHOLD"); fi
allow=${ALLOW:-}
if [ -f base.txt ] && [ -f head.txt ] && ! grep -Eq '^(Benchmark|FAIL|--- FAIL)' base.txt && grep -q '^Benchmark' head.txt; then
  allow=${allow:+$allow,}empty-input,nothing-compared
  told='base has no benchmarks, so there is nothing to compare these with: the next pull request is compared with them'
  echo "compare.sh: $told" >&2
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then printf 'These are the first benchmarks: %s.\n' "$told" >>"$GITHUB_STEP_SUMMARY"; fi
fi
if [ -n "$allow" ]; then flags+=(-allow "$allow"); fi
if [ -n "${BASE_REF:-}" ]; then flags+=(-base-ref "$BASE_REF"); fi
if [ -n "${HEAD_REF:-}" ]; then flags+=(-head-ref "$HEAD_REF"); fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then flags+=(-out "comment=$GITHUB_STEP_SUMMARY"); fi
# To the end, and not only the first line; `read` calls that a failure.
IFS=$' \t\n' read -r -d '' -a more <<<"${ARGUMENTS:-}" || true

status=0
rbenchstat "${flags[@]}" ${more[@]+"${more[@]}"} \
  -out "comment=$reports/comment.md" -out "json=$reports/report.json" -out "html=$reports/report.html" \
  -format pretty base=base.txt head=head.txt || status=$?
for input in base.txt head.txt; do
  if [ -f "$input" ] && [ ! "$reports/$input" -ef "$input" ]; then cp "$input" "$reports/" || status=2; fi
done
case "$status" in
  0) next='' ;;
  1) next='mend the rows to blame above, or, if they are meant, waive them with a reason and a date (-waivers)' ;;
  3) next='do what the reasons above say, or let one of them pass with -allow' ;;
  *) next='mend the argument or file that the log of this step names' ;;
esac
if [ -n "$next" ]; then
  echo "What to do next: $next." >&2
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then printf '\n**What to do next:** %s.\n' "$next" >>"$GITHUB_STEP_SUMMARY"; fi
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  echo "status=$status" >>"$GITHUB_OUTPUT"
else
  exit "$status"
fi
