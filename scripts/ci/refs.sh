#!/usr/bin/env bash
# Says which two commits a run of GitHub Actions compares, as `base` and `head` in the step's outputs.
#
#   EVENT           the event's name
#   HEAD_REF        the commit to judge
#   GIVEN_BASE      what to compare with, whatever the event
#   PULL_BASE, MERGE_BASE, PUSH_BASE  the base as pull_request, merge_group and push name it
# A pull request is compared with the commit that it branched off, so that it is not charged with what its target gained
# meanwhile. What has no base, such as a schedule, is compared with the last tag before it, or else with its parent.
set -euo pipefail

head=$(git rev-parse --verify --quiet "$HEAD_REF^{commit}") || {
  echo "refs.sh: $HEAD_REF is no commit of this checkout: check out with fetch-depth: 0" >&2
  exit 2
}
last() {
  git describe --tags --abbrev=0 "$head^" 2>/dev/null || git rev-parse --verify --quiet "$head^"
}
case "${EVENT:-}" in
  pull_request | pull_request_target) base=${PULL_BASE:-} ;;
  merge_group) base=${MERGE_BASE:-} ;;
  push) base=${PUSH_BASE:-} ;;
  *) base='' ;;
esac
if [ -n "${GIVEN_BASE:-}" ]; then base=$GIVEN_BASE; fi
# A branch that is new has zeros for what it was before, and one that was rewritten a commit that is gone.
if [[ $base =~ ^0*$ ]] || { [ "${EVENT:-}" = push ] && ! git cat-file -e "$base^{commit}" 2>/dev/null; }; then
  base=$(last) || {
    echo "refs.sh: there is no commit before $head to compare with: check out with fetch-depth: 0" >&2
    exit 2
  }
fi
commit=$(git rev-parse --verify --quiet "$base^{commit}") || {
  echo "refs.sh: $base is no commit of this checkout: check out with fetch-depth: 0" >&2
  exit 2
}
merge_base=$(git merge-base "$commit" "$head") || {
  echo "refs.sh: $base and $HEAD_REF have no commit in common: check out with fetch-depth: 0" >&2
  exit 2
}
echo "comparing $head with $merge_base"
if [ -n "${GITHUB_OUTPUT:-}" ]; then printf 'base=%s\nhead=%s\n' "$merge_base" "$head" >>"$GITHUB_OUTPUT"; fi
