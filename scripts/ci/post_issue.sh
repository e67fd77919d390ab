#!/usr/bin/env bash
# Keeps one issue about the runs that no pull request belongs to: opens or updates it where the gate does not pass, and
# closes it where it does again. Needs curl and jq.
#
#   STATUS   the exit status of the gate
#   COMMENT  the report (default: rbenchstat-report/comment.md)
#   ID, REPOSITORY, GH_TOKEN  as for post.sh
#   RUN_URL  the run, to be linked (default: none)
set -euo pipefail

comment=${COMMENT:-rbenchstat-report/comment.md}
repository=${REPOSITORY:-$GITHUB_REPOSITORY}
export MARKER="<!-- rbenchstat:v1 id=${ID:-default} -->"

# shellcheck source-path=SCRIPTDIR source=api.sh
. "$(dirname "$0")/api.sh"
AUTHOR=$(author)
export AUTHOR
numbers=$(all "repos/$repository/issues?state=open" "$own | select(.pull_request == null) | .number")
number=${numbers%%$'\n'*}
body=$(mktemp)
trap 'rm -f "$body"' EXIT
if [ "$STATUS" = 0 ]; then
  if [ -z "$number" ]; then exit; fi
  jq --null-input --arg url "${RUN_URL:-}" '{body: ("The gate passes again. " + $url)}' >"$body"
  api POST "repos/$repository/issues/$number/comments" "$body" >/dev/null
  echo '{"state": "closed"}' >"$body"
  api PATCH "repos/$repository/issues/$number" "$body" >/dev/null
  exit
fi
if [ ! -f "$comment" ]; then
  echo "there is no report $comment to put into an issue" >&2
  exit 2
fi
case "$STATUS" in
  1) title='Benchmarks: the gate fails' ;;
  *) title='Benchmarks: the gate cannot judge' ;;
esac
jq --raw-input --slurp --arg title "$title" --arg url "${RUN_URL:-}" '{title: $title, body: (. + "\n\n" + $url)}' "$comment" >"$body"
if [ -n "$number" ]; then
  api PATCH "repos/$repository/issues/$number" "$body" >/dev/null
else
  api POST "repos/$repository/issues" "$body" >/dev/null
fi
