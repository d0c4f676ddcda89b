#!/usr/bin/env bash
# What reaches the nodes of what people ask, and what it costs, behind contrib/nginx.conf with TLS: a PostgreSQL, two nodes and nginx on this
# machine, browsers that open the page of an event with all that it loads, and a crowd in front of a waiting room, each of whom shakes hands
# for themselves. Needs root on Debian, nginx, openssl, bc and curl.
#   PEOPLE=10000 OVER=20 FASTER=20 SLOTS=500 LOOKS=100000 BROWSERS=500 tools/edge/measure.sh
# OVER: seconds within which they come; 95 of 100 are in the lobby when it closes. FASTER: times as fast as people. LOOKS: most a second.
set -euo pipefail
people=${PEOPLE:-10000} over=${OVER:-20} faster=${FASTER:-20} slots=${SLOTS:-500} looks=${LOOKS:-100000} browsers=${BROWSERS:-500}
cd "$(dirname "$0")/../.."
go build -o bin/usher ./cmd/usher
root=$PWD dir=$(mktemp -d) postgres=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$dir"' EXIT
cd "$dir"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>/dev/null
export SSL_CERT_FILE=$dir/cert.pem CURL_CA_BUNDLE=$dir/cert.pem
sed -e '/server 127.0.0.1:8083/d; s/127.0.0.1:808\([12]\) /127.0.0.1:1818\1 /; s/listen 127.0.0.1:8090 backlog=4096;/listen 127.0.0.1:18443 ssl http2 backlog=4096;/' \
  -e "s|# ssl_certificate .*|ssl_certificate $dir/cert.pem;|; s|# ssl_certificate_key .*|ssl_certificate_key $dir/key.pem;|; s|# ssl_protocols|ssl_protocols|" \
  -e "s|access_log off;|log_format edge '\$upstream_cache_status \$ssl_session_reused \$server_protocol \$uri'; access_log $dir/access.log edge buffer=64k flush=1s;|" "$root/contrib/nginx.conf" >nginx.conf
sed -i '/worker_rlimit_nofile/d; s/worker_connections 32768/worker_connections 8192/' nginx.conf # as many as this process may have
nginx -p "$dir" -c "$dir/nginx.conf" -g "daemon off; $([ "$(id -u)" = 0 ] && echo 'user root;')" &
nginx=$!
chmod 711 . && mkdir sql && chown postgres sql
su postgres -s /bin/sh -c "'$postgres/initdb' -D '$dir/sql/data' --auth=trust >/dev/null && exec '$postgres/postgres' -D '$dir/sql/data' -p 18432 -k '$dir/sql' -c max_connections=200 -c shared_buffers=1GB -c wal_compression=on" >postgres.log 2>&1 &
until "$postgres/pg_isready" -qh 127.0.0.1 -p 18432; do sleep 0.2; done
export DATABASE_URL=postgres://postgres@127.0.0.1:18432/postgres
nodes=()
for n in 1 2; do
  "$root/bin/usher" serve --data "data$n" --addr "127.0.0.1:1818$n" --url https://localhost:18443 --address-header X-Forwarded-For --metrics "127.0.0.1:1919$n" --joins-per-network 10000000 >"usher$n.log" 2>&1 &
  nodes+=($!)
  until curl -sf -o /dev/null "http://127.0.0.1:1818$n/readyz"; do sleep 0.2; done
done
usher() { "$root/bin/usher" "$@"; }
usher event create --plan stadium --name Match --confirm-email never --price A=0 --price B=0 --price C=0 --price D=0 --price E=0 >/dev/null
"$postgres/psql" -q "$DATABASE_URL" -c "INSERT INTO event_limit (event_id, challenge) SELECT id, 'off' FROM event ON CONFLICT (event_id) DO UPDATE SET challenge = 'off'" # all come from this machine

origin() { curl -s http://127.0.0.1:1919{1,2}/metrics | awk '/^usher_http_requests_total/ { n += $NF } END { print n + 0 }'; }
tell() { # what, people, requests of the origin before
  local asked now; sleep 2; asked=$(wc -l <access.log) now=$(origin)
  printf '%-42s %8d people  %9d requests, %6.2f each  %9d at the node, %6.3f each\n' "$1" "$2" "$asked" "$(bc -l <<<"$asked/$2")" $((now - $3)) "$(bc -l <<<"($now-$3)/$2")"
  awk '{ n[$1]++; if ($2 == "r") resumed++; v[$3]++ } END { for (s in n) printf "  %-8s %d\n", s, n[s]; for (s in v) printf "  %-8s %d\n", s, v[s]; printf "  of a resumed session %d\n", resumed }' access.log
  : >access.log
}

# Browsers: the page, and what it names. An address of static/ has the sum of its content in it, so a browser asks for it once.
event=https://localhost:18443/events/match
curl -s "$event" >page.html
{ echo "$event"; grep -oE '(src|href)="/static/[^"]+"' page.html | cut -d'"' -f2 | sort -u | sed 's|^|https://localhost:18443|'; echo "$event/map.bin?format=1"
  grep -oE '/events/match/geometry/[^"]+' page.html | sort -u | sed 's|^|https://localhost:18443|'; } >addresses
: >access.log; before=$(origin)
for _ in $(seq "$browsers"); do while read -r url; do echo "url = \"$url\""; echo 'output = "/dev/null"'; done <addresses; done |
  curl --no-progress-meter --parallel --parallel-max 32 --compressed -K -
tell "the page of an event with what it loads" "$browsers" "$before"

usher room create --name Match --events match --opens "$(date -u -d "+$((over * 95 / 100 + 5)) seconds" +%FT%TZ)" --slots "$slots" >/dev/null
: >access.log; before=$(origin)
usher rush --scenario room --url https://localhost:18443 --event match --room match --slots "$slots" --people "$people" --over "${over}s" --faster "$faster" --looks "$looks" --handshakes || failed=$?
tell "a crowd in front of a waiting room" "$people" "$before"
worked() { # name, processes: seconds of a processor, and the most memory of one
  local name=$1 most; shift
  most=$(for p; do awk '/VmHWM/ { print $2 }' "/proc/$p/status"; done | sort -n | tail -1)
  for p; do cat "/proc/$p/stat"; done | sed 's/.*) //' | awk -v hz="$(getconf CLK_TCK)" -v name="$name" -v mb="$((most / 1024))" '{ n += $12 + $13 + $14 + $15 } END { printf "  %-12s %8.1f s of a processor, %d MB at most\n", name, n / hz, mb }'
}
worked "node 1" "${nodes[0]}"
worked "node 2" "${nodes[1]}"
worked nginx $(pgrep -P "$nginx")
postmaster=$(head -1 sql/data/postmaster.pid)
worked PostgreSQL "$postmaster" $(pgrep -P "$postmaster")
curl -s http://127.0.0.1:1919{1,2}/metrics | awk '/^usher_http_request_seconds_count.*"POST .events.*claims"/ { all += $NF } /^usher_http_request_seconds_bucket.*"POST .events.*claims".*le="0.25"/ { soon += $NF }
  END { if (all) printf "  %.1f %% of %d claims were answered within 250 ms\n", 100 * soon / all, all }'
usher verify | tail -1
exit "${failed:-0}"
