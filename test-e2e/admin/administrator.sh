#!/usr/bin/env bash
# An administrator's tasks in the first week, using only the management API.
#
#   API_URL=http://127.0.0.1:8010 API_KEY=phx_… COLLEAGUE_EMAIL=… COLLEAGUE_KEY=phx_… bash administrator.sh
#
# COLLEAGUE_KEY belongs to the account COLLEAGUE_EMAIL, which is not a member yet. DOMAIN is the domain to verify
# (admin.example.com by default). Publish its TXT record while the script waits for it.
set -euo pipefail
: "${API_URL:?is the address of the management API}"
: "${API_KEY:?is a personal API key of an owner}"
: "${COLLEAGUE_EMAIL:?is the address of who is invited}"
: "${COLLEAGUE_KEY:?is a personal API key of who is invited}"
DOMAIN=${DOMAIN:-admin.example.com}

response=$(mktemp)
trap 'rm -f "$response"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

done_with() {
  echo "ok: $*"
}

# request KEY STATUS METHOD PATH [BODY]: sends a request and stores the response body in $response. Passes the key to curl
# through a file descriptor, because all users of the machine can read command-line arguments.
request() {
  local key=$1 expected=$2 method=$3 path=$4 status
  local -a body=()
  if (($# > 4)); then body=(--header 'Content-Type: application/json' --data "$5"); fi
  status=$(curl --silent --show-error --max-time 30 --output "$response" --write-out '%{http_code}' --request "$method" \
    --header @<(printf 'Authorization: Bearer %s\n' "$key") "${body[@]}" "$API_URL$path") ||
    fail "$method $path: no response"
  [[ $status == "$expected" ]] || fail "$method $path returned $status instead of $expected: $(cat "$response")"
}

api() {
  request "$API_KEY" "$@"
}

# field FILTER: prints the result of the jq filter for the last response.
field() {
  jq --raw-output "$1" "$response"
}

# check WHAT FILTER [jq's options]: fails unless the jq filter is true for the last response.
check() {
  local what=$1 filter=$2
  shift 2
  jq --exit-status "$@" "$filter" "$response" >/dev/null || fail "$what: $filter is not true of $(cat "$response")"
}

check_no_body() {
  [[ ! -s $response ]] || fail "$1 returned a body: $(cat "$response")"
}

api 200 GET /api/organizations/@current/
organization=/api/organizations/$(field .id)

api 201 POST "$organization/domains/" "$(jq --null-input --arg domain "$DOMAIN" '{domain: $domain}')"
check 'the new domain' '.domain == $domain and .is_verified == false and .verified_at == null' --arg domain "$DOMAIN"
domain=$(field .id)
done_with 'domain created'

echo "publish TXT _millrace-challenge.$DOMAIN $(field .verification_challenge)"
for attempt in {1..30}; do
  api 200 POST "$organization/domains/$domain/verify/" '{}'
  check_no_body 'verifying'
  api 200 GET "$organization/domains/$domain/"
  [[ $(field .is_verified) == true ]] && break
  ((attempt < 30)) || fail "the TXT record of $DOMAIN was not found"
  sleep 1
done
check 'the verified domain' '.is_verified and (.verified_at | type == "string")'
done_with 'domain verified'

api 201 POST "$organization/invites/" \
  "$(jq --null-input --arg email "$COLLEAGUE_EMAIL" '{target_email: $email, level: 1, send_email: false}')"
check 'the new invite' '.level == 1 and .is_expired == false and .emailing_attempt_made == false'
invite=$(field .id)
done_with 'colleague invited'

api 200 GET "$organization/invites/?limit=10"
check 'the list of invites' '.count == 1 and .next == null and .results[0].id == $id' --arg id "$invite"
done_with 'invites listed'

request "$COLLEAGUE_KEY" 201 POST "/api/invites/$invite/accept/"
api 200 GET "$organization/members/?limit=100"
check 'the list of members' '.count == (.results | length) and .count == 2'
member=$(jq --raw-output --arg email "$COLLEAGUE_EMAIL" '.results[] | select(.user.email == $email) | .user.uuid' "$response")
[[ -n $member ]] || fail 'the colleague is not among the members'
done_with 'members listed'

api 200 PATCH "$organization/members/$member/" '{"level": 8}'
check 'the promoted member' '.level == 8 and .user.uuid == $uuid' --arg uuid "$member"
done_with 'colleague promoted'

api 201 POST "$organization/projects/" '{"name": "Shop", "timezone": "Europe/Berlin"}'
check 'the new project' '.name == "Shop" and .timezone == "Europe/Berlin" and (.api_token | startswith("phc_"))'
project=$(field .id)
api 200 GET "$organization/projects/?limit=100"
check 'the list of projects' 'any(.results[]; .id == $id)' --argjson id "$project"
done_with 'project created'

for name in Staging Production; do
  api 201 POST "/api/projects/$project/environments/" "$(jq --null-input --arg name "$name" '{name: $name}')"
  check 'the new environment' '.name == $name and .project_id == $id' --arg name "$name" --argjson id "$project"
done
environment=$(field .id)
api 200 GET "/api/projects/$project/environments/?limit=100"
check 'the list of environments' '[.results[].name] | contains(["Staging", "Production"])'
api 200 PATCH "/api/projects/$project/environments/$environment/" '{"anonymize_ips": true}'
check 'the changed environment' '.anonymize_ips and .name == "Production"'
done_with 'environments created'

subscriptions=/api/environments/$environment/subscriptions
api 201 POST "/api/environments/$environment/insights/" '{"name": "Orders", "query": {"kind": "TrendsQuery", "series": [{"kind": "EventsNode"}]}}'
api 201 POST "$subscriptions/" "{\"insight\": $(field .id), "'"target_type": "email", "target_value": "team@example.com",
  "frequency": "weekly", "byweekday": ["monday"], "start_date": "2026-01-05T09:00:00Z", "title": "Week"}'
check 'the new subscription' '.deleted == false and .title == "Week" and (.next_delivery_date | type == "string")'
subscription=$(field .id)
done_with 'subscription created'

api 405 DELETE "$subscriptions/$subscription/"
api 200 GET "$subscriptions/$subscription/"
check 'the subscription after DELETE' '.deleted == false'
done_with 'subscription cannot be removed by DELETE'

api 200 PATCH "$subscriptions/$subscription/" '{"deleted": true}'
check 'the deleted subscription' '.deleted and .title == "Week"'
api 200 GET "$subscriptions/"
check 'the list of subscriptions' 'all(.results[]; .id != $id)' --argjson id "$subscription"
done_with 'subscription deleted by PATCH'

api 201 POST "/api/environments/$environment/batch_exports/" '{"name": "Nightly", "interval": "day", "model": "events",
  "destination": {"type": "S3", "config": {"bucket_name": "nightly", "region": "eu-central-1", "prefix": "events/",
  "aws_access_key_id": "id", "aws_secret_access_key": "secret"}}}'
check 'the new export' '.paused == false and .name == "Nightly"'
export=$(field .id)
done_with 'export created'

api 200 POST "$organization/batch_exports/$export/pause/" '{}'
check_no_body 'pausing'
api 200 GET "$organization/batch_exports/$export/"
check 'the paused export' '.paused and (.last_paused_at | type == "string")'
done_with 'export paused'

api 200 POST "$organization/batch_exports/$export/unpause/" '{}'
check_no_body 'unpausing'
api 200 GET "$organization/batch_exports/$export/"
check 'the export that goes on' '.paused == false'
done_with 'export unpaused'
