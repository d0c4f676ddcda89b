#!/usr/bin/env bash
# How long pages of the desk take, of a house with many events and orders (house.sql, docs/testing.md): each page 100 times (TIMES), one
# after another, as the owner, on one connection. Prints the half and the 99th of 100 in milliseconds, and fails above the budget.
#   tools/house/measure.sh URL SETUP-LINK|COOKIES [budget in ms]
# With the link of "usher organizer link" it signs up; the cookies are then in the file cookies, for the next time.
set -euo pipefail
url=$1 who=$2 most=${3:-150} cookies=cookies
if [[ $who == http* ]]; then
  curl -sf -o /dev/null -c "$cookies" "$who"
  curl -s -o /dev/null -b "$cookies" -c "$cookies" -d name=Ann -d email=ann@example.org -d 'password=three plain words' "$url/desk/setup/${who##*/}"
else
  cookies=$who
fi
slug=$(curl -s -b "$cookies" -H 'Accept: application/json' "$url/desk/events?show=on-sale" | grep -oE '"slug":"[^"]+"' | head -1 | cut -d'"' -f4)
series=$(curl -s -b "$cookies" -H 'Accept: application/json' "$url/desk/series" | grep -oE '"slug":"[^"]+"' | head -1 | cut -d'"' -f4)
order=$(curl -s -b "$cookies" -H 'Accept: application/json' "$url/desk/events/$slug/orders" | grep -oE '"code":"[^"]+"' | head -1 | cut -d'"' -f4)
customer=$(curl -s -b "$cookies" -H 'Accept: application/json' "$url/desk/customers?q=berg" | grep -oE '"id":"[^"]+"' | head -1 | cut -d'"' -f4) || { echo 'no customer is named Berg' >&2; exit 1; }
fails=0
month=from=$(date -d "$(date +%Y-%m-01) -1 month" +%F)\&to=$(date -d "$(date +%Y-%m-01) -1 day" +%F)
while read -r path; do
  [[ $path =~ ${ONLY:-.} ]] || continue
  line=$(for _ in $(seq "${TIMES:-100}"); do echo "url = \"$url$path\""; echo 'output = "/dev/null"'; done |
    curl -s -b "$cookies" -H 'Accept: text/html' --compressed -w '%{http_code} %{time_total}\n' -K - | sort -k2 -n |
    awk '{ if ($1 != 200) bad++; t[NR] = $2 * 1000 } END { printf "%7.1f %7.1f%s", t[int(NR / 2)], t[int(NR * 0.99)], bad ? sprintf("  %d failed", bad) : ""; exit bad > 0 || t[int(NR * 0.99)] > '"$most"' }') || { fails=1; line+="  over"; }
  echo "$line  $path"
done <<PAGES
/desk
/desk/events
/desk/events?page=100&show=all
/desk/events?q=hamlet&show=all
/desk/search
/desk/search?q=hamlet
/desk/search?q=Berg
/desk/search?q=zo%C3%AB%20k
/desk/search?q=anna.berger
/desk/search?q=an
/desk/search?q=$order
/desk/search?q=Stalls/C/12
/desk/search?q=C%2012
/desk/search?q=D%2013
/desk/search?q=schule
/desk/events/$slug
/desk/events/$slug/orders
/desk/events/$slug/orders?q=berg
/desk/events/$slug/orders/$order
/desk/events/$slug/seats
/desk/events/$slug/doors
/desk/events/$slug/prices
/desk/events/$slug/settings
/desk/events/$slug/messages
/desk/events/$slug/waitlist
/desk/events/$slug/log
/desk/events/$slug/preview
/desk/events/$slug/post
/desk/events/$slug/seats/12
/desk/events/$slug/codes
/desk/events/new
/desk/series
/desk/series/$series
/desk/subscriptions
/desk/subscriptions/new
/desk/plans
/desk/bank
/desk/invoices
/desk/gift-cards
/desk/team
/desk/site
/desk/legal
/desk/log
/desk/privacy
/desk/events/$slug/page
/desk/events/$slug/checklist
/desk/events/$slug/rehearsal
/desk/events/$slug/blocks
/desk/events/$slug/guests
/desk/events/$slug/bookings
/desk/events/$slug/till
/desk/events/$slug/comparison
/desk/events/$slug/settlement
/desk/events/$slug/letters
/desk/events/$slug/shares
/desk/events/$slug/room
/desk/events/$slug/plan
/desk/events/$slug/doors?print=1
/desk/events/$slug/series
/desk/till
/desk/till/days/$(date +%F)
/desk/customers
/desk/customers?q=berg
/desk/customers/$customer
/desk/customers/duplicates
/desk/memberships
/desk/keys
/desk/keys/requests
/desk/alerts
/desk/hooks
/desk/branding
/desk/mail-texts
/desk/taxes
/desk/books
/desk/books?by=performance&$month
/desk/books?by=series&$month
/desk/books?by=category&$month
/desk/books?by=type&$month
/desk/books?by=promoter&$month
/desk/books?by=reason&$month
/desk/books?by=category&from=2020-01-01
/desk/books?by=channel&$month
/desk/books?by=method&$month
/desk/books?by=rate&$month
/desk/books/email
/desk/books/accounts
/desk/books/payouts
/desk/account
PAGES
exit $fails
