#!/usr/bin/env bash
# Posts a comment of rbenchstat on a pull request, or updates the one posted before. Needs curl and jq.
#
#   COMMENT       the file (default: rbenchstat-report/comment.md)
#   PULL_REQUEST  the number of the pull request
#   REPOSITORY    OWNER/NAME (default: GITHUB_REPOSITORY)
#   ID            as it was given to run.sh (default: default)
#   GH_TOKEN      the token to comment with; GITHUB_API_URL says where
# The file may come from a fork, so it is only ever text: it has to start with the marker and to have the size of a comment,
# and the number of the pull request comes from elsewhere.
set -euo pipefail

comment=${COMMENT:-rbenchstat-report/comment.md}
repository=${REPOSITORY:-$GITHUB_REPOSITORY}
export MARKER="<!-- rbenchstat:v1 id=${ID:-default} -->"

if [[ ! $PULL_REQUEST =~ ^[0-9]+$ ]]; then
  echo "PULL_REQUEST is no number" >&2
  exit 2
fi
# A link could name a file of this machine.
if [ -L "$comment" ] || [ ! -f "$comment" ]; then
  echo "$comment is no file" >&2
  exit 2
fi
if [ "$(head -n 1 "$comment")" != "$MARKER" ]; then
  echo "$comment does not start with $MARKER" >&2
  exit 2
fi
if [ "$(wc -c <"$comment")" -gt 65536 ]; then
  echo "$comment is too long for a comment" >&2
  exit 2
fi

# shellcheck source-path=SCRIPTDIR source=api.sh
. "$(dirname "$0")/api.sh"
AUTHOR=$(author)
export AUTHOR
ids=$(all "repos/$repository/issues/$PULL_REQUEST/comments" "$own | .id")
body=$(mktemp)
trap 'rm -f "$body"' EXIT
jq --raw-input --slurp '{body: .}' "$comment" >"$body"
if [ -n "$ids" ]; then
  api PATCH "repos/$repository/issues/comments/${ids%%$'\n'*}" "$body" >/dev/null
else
  api POST "repos/$repository/issues/$PULL_REQUEST/comments" "$body" >/dev/null
fi
