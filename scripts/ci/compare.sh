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
# In GitHub Actions the exit status of the gate goes into the step's output `status`, so that reports are posted first;
# elsewhere this script ends with it.
set -euo pipefail

reports=${REPORTS:-rbenchstat-report}
mkdir -p "$reports"
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
cp base.txt head.txt "$reports/"
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  echo "status=$status" >>"$GITHUB_OUTPUT"
else
  exit "$status"
fi
