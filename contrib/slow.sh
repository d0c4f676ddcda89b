#!/usr/bin/env bash
# A thousand connections that send a header, a body, or read an answer as slowly as they can (slowhttptest), while a visitor
# looks at a page 400 times, each on a connection of its own. usher runs already, with --sockets-per-address as it comes.
#   contrib/slow.sh http://localhost:8080/events/seagull [seconds of each kind]
set -euo pipefail
url=${1:-http://localhost:8080/events/seagull} seconds=${2:-25} most=0.200
command -v slowhttptest >/dev/null || { echo "this needs slowhttptest: sudo apt-get install -y slowhttptest"; exit 1; }

look() { # prints the time within which 99 of 100 answers came
  curl -s -o /dev/null -w '%{http_code} %{time_total}\n' -H 'Connection: close' "$url?n=[1-400]" | sort -k2 -n |
    awk '$1 != 200 { bad++ } { t[NR] = $2 } END { printf "half %.0f ms, 99 of 100 %.0f ms, %d failed\n", t[int(NR/2)]*1000, t[int(NR*0.99)]*1000, bad; exit bad > 0 || t[int(NR*0.99)] > '$most' }'
}

fails=0
echo "alone: $(look)" || fails=1
for kind in headers bodies reading; do
  case $kind in
    headers) how=(-H -u "$url") ;;
    bodies) how=(-B -t POST -s 8192 -f application/json -u "$url/claims") ;;
    reading) how=(-X -u "$url") ;;
  esac
  slowhttptest -c 1000 "${how[@]}" -i 5 -r 500 -l "$seconds" -p 3 -x 24 -w 10 -y 20 -n 5 -z 32 -k 3 >/dev/null 2>&1 &
  slow=$!
  sleep $((seconds / 4))
  line=$(look) || fails=1
  echo "slow $kind: $line, beside $(ss -tn state established "( dport = :$(sed -E 's#.*:([0-9]+)/.*#\1#' <<<"$url") )" 2>/dev/null | tail -n +2 | wc -l) connections"
  wait "$slow" || true
done
exit $fails
