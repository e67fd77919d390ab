#!/usr/bin/env bash
# Posts a comment of rbenchstat on a merge request of GitLab, or updates the one posted before.
#
#   COMMENT       the file (default: rbenchstat-report/comment.md)
#   ID            as it was given to run.sh (default: default)
#   GITLAB_TOKEN  a token that may write notes (`api`); without one, nothing is posted
# The other variables are GitLab's own. Needs curl and jq. Only a note that this token wrote is changed.
set -euo pipefail

comment=${COMMENT:-rbenchstat-report/comment.md}
if [ -z "${GITLAB_TOKEN:-}" ]; then
  echo "no GITLAB_TOKEN: the comment stays in $comment"
  exit
fi
if [ ! -f "$comment" ]; then
  echo "$comment is no file" >&2
  exit 2
fi
marker="<!-- rbenchstat:v1 id=${ID:-default} -->"
notes="$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"
call() {
  # The token goes through a file descriptor: arguments can be seen by others on the machine.
  curl --silent --show-error --fail --retry 2 --config <(printf 'header = "PRIVATE-TOKEN: %s"\n' "$GITLAB_TOKEN") "$@"
}
author=$(call "$CI_API_V4_URL/user" | jq .id)
found='' page=1
while [ -z "$found" ]; do
  list=$(call "$notes?per_page=100&sort=asc&page=$page")
  # Anybody can write the marker.
  found=$(jq -r --arg marker "$marker" --argjson author "$author" \
    '[.[] | select(.author.id == $author and (.body | startswith($marker)))][0].id // empty' <<<"$list")
  if [ "$(jq length <<<"$list")" -lt 100 ]; then break; fi
  page=$((page + 1))
done
if [ -n "$found" ]; then
  call --request PUT --data-urlencode "body@$comment" --output /dev/null "$notes/$found"
else
  call --request POST --data-urlencode "body@$comment" --output /dev/null "$notes"
fi
