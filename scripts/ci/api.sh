# Sourced by the scripts that post: speaks to GitHub's interface, of whatever host, with curl and jq.
#
#   GH_TOKEN        the token
#   GITHUB_API_URL  where the interface is; GitHub Actions sets it (default: https://api.github.com)
# shellcheck shell=bash

for program in curl jq; do
  if ! command -v "$program" >/dev/null; then
    echo "posting needs $program, which is not installed" >&2
    exit 2
  fi
done

# api METHOD PATH [FILE]: sends FILE, prints the answer.
api() {
  local sends=()
  if [ $# -gt 2 ]; then sends=(--data-binary "@$3"); fi
  # The token goes through a file descriptor: arguments can be seen by others on the machine.
  curl --silent --show-error --fail --retry 2 --request "$1" \
    --config <(printf 'header = "Authorization: Bearer %s"\n' "$GH_TOKEN") \
    --header 'Accept: application/vnd.github+json' --header 'Content-Type: application/json' \
    ${sends[@]+"${sends[@]}"} "${GITHUB_API_URL:-https://api.github.com}/$2"
}

# all PATH FILTER: what FILTER of jq makes of each page of a list.
all() {
  local page=1 list separator='?'
  case "$1" in *\?*) separator='&' ;; esac
  while true; do
    list=$(api GET "$1${separator}per_page=100&page=$page") || return
    jq -r "$2" <<<"$list" || return
    if [ "$(jq length <<<"$list")" -lt 100 ]; then return; fi
    page=$((page + 1))
  done
}

# Who writes with this token: a name, or nothing where only an app can say, as with GitHub's own token.
author() {
  api GET user 2>/dev/null | jq -r '.login // empty' || true
}

# A filter of jq for what this token wrote and starts with MARKER. Anybody can write the marker.
# shellcheck disable=SC2034 # The scripts that source this use it.
own='.[] | select((if env.AUTHOR == "" then .user.type == "Bot" else .user.login == env.AUTHOR end)
  and ((.body // "") | startswith(env.MARKER)))'
