#!/usr/bin/env bash
# Finds the pull request of a fork's workflow run and posts the comment there.
#
#   HEAD_OWNER, HEAD_BRANCH, HEAD_SHA  of the run, as the platform names them
# Which pull request it is comes from the platform and never from the artifact, which the fork could have written.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=api.sh
. "$(dirname "$0")/api.sh"
export HEAD_SHA
branch=$(jq --null-input --raw-output --arg branch "$HEAD_OWNER:$HEAD_BRANCH" '$branch | @uri')
numbers=$(all "repos/$GITHUB_REPOSITORY/pulls?state=open&head=$branch" '.[] | select(.head.sha == env.HEAD_SHA) | .number')
if [ -z "$numbers" ]; then
  echo "no open pull request has $HEAD_SHA as its head: nothing to comment on"
  exit
fi
PULL_REQUEST=${numbers%%$'\n'*} exec bash "$(dirname "$0")/post.sh"
