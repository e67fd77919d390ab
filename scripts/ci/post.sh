#!/usr/bin/env bash
# Posts a comment of rbenchstat on a pull request, or updates the one posted before, with the `gh` client.
#
#   COMMENT       the file (default: rbenchstat-report/comment.md)
#   PULL_REQUEST  the number of the pull request
#   REPOSITORY    OWNER/NAME (default: GITHUB_REPOSITORY)
#   ID            as it was given to compare.sh (default: default)
# The file may come from a fork, so it is only ever text: it has to start with the marker and to have the size of a comment,
# and the number of the pull request comes from elsewhere.
set -euo pipefail

comment=${COMMENT:-rbenchstat-report/comment.md}
repository=${REPOSITORY:-$GITHUB_REPOSITORY}
marker="<!-- rbenchstat:v1 id=${ID:-default} -->"

if [[ ! $PULL_REQUEST =~ ^[0-9]+$ ]]; then
  echo "PULL_REQUEST is no number" >&2
  exit 2
fi
# A link could name a file of this machine.
if [ -L "$comment" ] || [ ! -f "$comment" ]; then
  echo "$comment is no file" >&2
  exit 2
fi
if [ "$(head -n 1 "$comment")" != "$marker" ]; then
  echo "$comment does not start with $marker" >&2
  exit 2
fi
if [ "$(wc -c <"$comment")" -gt 65536 ]; then
  echo "$comment is too long for a comment" >&2
  exit 2
fi

# Only a comment of a bot counts: anybody can write the marker.
export MARKER=$marker
found=$(gh api --paginate "repos/$repository/issues/$PULL_REQUEST/comments" \
  --jq '.[] | select(.user.type == "Bot" and (.body | startswith(env.MARKER))) | .id' | head -n 1)
if [ -n "$found" ]; then
  gh api --method PATCH "repos/$repository/issues/comments/$found" -F "body=@$comment" --silent
else
  gh api --method POST "repos/$repository/issues/$PULL_REQUEST/comments" -F "body=@$comment" --silent
fi
