#!/usr/bin/env bash
# Finds the pull request of a fork's workflow run and posts the comment there.
#
#   HEAD_OWNER, HEAD_BRANCH, HEAD_SHA  of the run, as the platform names them
# Which pull request it is comes from the platform and never from the artifact, which the fork could have written.
set -euo pipefail

export HEAD_SHA
number=$(gh api --method GET "repos/$GITHUB_REPOSITORY/pulls" -f state=open -f "head=$HEAD_OWNER:$HEAD_BRANCH" \
  --jq '.[] | select(.head.sha == env.HEAD_SHA) | .number' | head -n 1)
if [ -z "$number" ]; then
  echo "no open pull request has $HEAD_SHA as its head: nothing to comment on"
  exit
fi
PULL_REQUEST=$number exec bash "$(dirname "$0")/post.sh"
