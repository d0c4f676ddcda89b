#!/bin/bash
# Writes the backup of a small house in which a crowd bought, as this program leaves it, into FILE:
#   tools/release/fixture.sh PROGRAM FILE
# Each release keeps one in cmd/usher/testdata/releases; a test upgrades all of them.
set -euo pipefail
usher=$(realpath "$1") file=$(realpath "$2")
USHER_SECRET_KEY_FILE=$(realpath "$(dirname "$0")/../../cmd/usher/testdata/releases/secret.key") # which protects nothing
export USHER_SECRET_KEY_FILE
here=$(mktemp -d)
trap 'kill "$box" 2>/dev/null; wait; rm -rf "$here"' EXIT
cd "$here"
url=http://127.0.0.1:18184
"$usher" serve --addr 127.0.0.1:18184 --demo=false --data data >log 2>&1 & box=$!
for _ in $(seq 300); do curl --fail --silent --output /dev/null "$url/readyz" && break; sleep 0.2; done
"$usher" organizer link --data data >/dev/null
"$usher" event create --plan conference --name "Free places" --data data
"$usher" event create --plan club --name "A club" --price A=10 --price B=20 --price C=15.50 --demo-card --limit 4 --data data
"$usher" event create --plan theatre --name "A play" --price A=40 --price B=30 --price C=20 --invoices --draft --data data
"$usher" voucher create --amount 20 --count 3 --data data >/dev/null
"$usher" room create --name "A room" --events a-play --opens "$(date -u -d tomorrow +%FT%TZ)" --data data
"$usher" rush --url "$url" --event free-places --scenario places --people 25 --over 1s --buy
"$usher" rush --url "$url" --event a-club --people 20 --over 1s --give-up 50%
"$usher" verify --data data | tail -1
"$usher" backup "$file" --data data
