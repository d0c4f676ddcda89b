#!/usr/bin/env bash
# What reaches the nodes of what people ask, behind contrib/nginx.conf with TLS: a node and nginx on this machine, a crowd in front of a waiting
# room, and browsers that open the page of an event with all that it loads. Needs nginx, openssl and curl.
#   tools/edge/measure.sh [people in front of the room] [browsers]
set -euo pipefail
people=${1:-10000} browsers=${2:-500}
cd "$(dirname "$0")/../.."
go build -o bin/usher ./cmd/usher
root=$PWD dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$dir"' EXIT
cd "$dir"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>/dev/null
export SSL_CERT_FILE=$dir/cert.pem CURL_CA_BUNDLE=$dir/cert.pem
sed -e '/server 127.0.0.1:808[23]/d; s/127.0.0.1:8081/127.0.0.1:18181/; s/listen 127.0.0.1:8090 backlog=4096;/listen 127.0.0.1:18443 ssl http2 backlog=4096; ssl_session_cache shared:edge:8m;/' \
  -e "s|# ssl_certificate .*|ssl_certificate $dir/cert.pem;|; s|# ssl_certificate_key .*|ssl_certificate_key $dir/key.pem;|; s|# ssl_protocols|ssl_protocols|" \
  -e "s|access_log off;|log_format edge '\$upstream_cache_status \$ssl_session_reused \$server_protocol \$uri'; access_log $dir/access.log edge;|" "$root/contrib/nginx.conf" >nginx.conf
sed -i '/worker_rlimit_nofile/d; s/worker_connections 32768/worker_connections 8192/' nginx.conf # as many as this process may have
nginx -p "$dir" -c "$dir/nginx.conf" -g "daemon off; $([ "$(id -u)" = 0 ] && echo 'user root;')" &
"$root/bin/usher" serve --data data --addr 127.0.0.1:18181 --url https://localhost:18443 --address-header X-Forwarded-For --metrics 127.0.0.1:19191 --joins-per-network 1000000 >usher.log 2>&1 &
until curl -sf -o /dev/null http://127.0.0.1:18181/readyz; do sleep 0.2; done
usher() { "$root/bin/usher" "$@" --data data; }
usher event create --plan stadium --name Match --confirm-email never --price A=0 --price B=0 --price C=0 --price D=0 --price E=0 >/dev/null

origin() { curl -s http://127.0.0.1:19191/metrics | awk '/^usher_http_requests_total/ { n += $NF } END { print n + 0 }'; }
tell() { # what, people, requests of the origin before
  local asked now; asked=$(wc -l <access.log) now=$(origin)
  printf '%-42s %8d people  %9d requests, %6.2f each  %9d at the node, %6.3f each\n' "$1" "$2" "$asked" "$(bc -l <<<"$asked/$2")" $((now - $3)) "$(bc -l <<<"($now-$3)/$2")"
  awk '{ n[$1]++ } END { for (s in n) printf "  %-8s %d\n", s, n[s] }' access.log
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

usher room create --name Match --events match --opens "$(date -u -d '+20 seconds' +%FT%TZ)" --slots 500 >/dev/null
: >access.log; before=$(origin)
"$root/bin/usher" rush --scenario room --url https://localhost:18443 --event match --room match --people "$people" --faster 20 --looks 100000 || true
tell "a crowd in front of a waiting room" "$people" "$before"
