#!/usr/bin/env bash
# Compares base.txt and head.txt, gates, and writes all reports into a folder.
#
#   REPORTS    the folder (default: rbenchstat-report)
#   FAIL_ON    what fails the gate: regression, unproven or change (default: regression)
#   THRESHOLD  up to where changes do not matter (default: rbenchstat's own)
#   ALLOW      what may stand in the way of an answer, as `-allow` (default: nothing)
#   ID         tells this comment from others on the same pull request (default: default)
#   BASE_REF, HEAD_REF  named in the reports
#   ARGUMENTS  further arguments, separated by blanks
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
if [ -n "${ALLOW:-}" ]; then flags+=(-allow "$ALLOW"); fi
if [ -n "${BASE_REF:-}" ]; then flags+=(-base-ref "$BASE_REF"); fi
if [ -n "${HEAD_REF:-}" ]; then flags+=(-head-ref "$HEAD_REF"); fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then flags+=(-out "comment=$GITHUB_STEP_SUMMARY"); fi
read -r -a more <<<"${ARGUMENTS:-}"

status=0
rbenchstat "${flags[@]}" "${more[@]}" \
  -out "comment=$reports/comment.md" -out "json=$reports/report.json" -out "html=$reports/report.html" \
  -format pretty base=base.txt head=head.txt || status=$?
for input in base.txt head.txt; do
  if [ -f "$input" ] && [ ! "$reports/$input" -ef "$input" ]; then cp "$input" "$reports/" || status=2; fi
done
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  echo "status=$status" >>"$GITHUB_OUTPUT"
else
  exit "$status"
fi
