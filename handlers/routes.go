package handlers

import (
	"net/http"
	"strings"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/static"
)

// route is one address, what answers it, and the rule that the middleware holds for it. A cross-origin request that is to
// change something is refused on every route; no rule exempts from that.
type route struct {
	pattern string
	handler handler
	rule    rule
}

// rule is what the middleware does for a route. The zero rule is the strictest: 64 KiB, nothing is stored.
type rule struct {
	body  int64  // the most bytes that a member whom the route admits may send; 0: bodyLimit, as everybody else
	cache string // Cache-Control unless the handler sets another; errors are never public
	plain plain  // which answers are not compressed
}

// public reports whether answers are the same for everybody and may be kept on the way.
func (r rule) public() bool { return strings.HasPrefix(r.cache, "public") }

// plain says which answers of a route are not compressed.
type plain int

const (
	packed    plain = iota
	plainJSON       // JSON too short to gain
	plainAll        // streams, and answers that are compressed already
)

// The rules. pageRule is for what attendees see, secretRule for the desk, for capability links and for what nobody goes back to.
var (
	pageRule   = rule{cache: goBack}
	secretRule = rule{cache: "no-store"}
	claimsRule = rule{cache: goBack, plain: plainJSON}
	plansRule  = rule{cache: "no-store", body: plan.MaxBytes}
	streamRule = rule{cache: "no-store", plain: plainAll}
	secondRule = rule{cache: "public, max-age=1"}
	minuteRule = rule{cache: "public, max-age=60"}
	statusRule = rule{cache: statusAge, plain: plainAll}
	keptRule   = rule{cache: "public, max-age=31536000, immutable"}
)

// table is every address of the site, to be read from top to bottom.
func (h *Handlers) table() []route {
	return []route{
		{"GET /{$}", h.home, pageRule},
		{"GET /events", h.events, pageRule},
		{"GET /events/{slug}", h.with(h.event), pageRule},
		{"GET /events/{slug}/sections/{section}", h.with(h.section), pageRule},
		{"GET /events/{slug}/seats", h.with(h.seats), secondRule},
		{"GET /events/{slug}/map.bin", h.with(h.mapBin), secondRule},
		{"GET /events/{slug}/geometry/{file}", h.with(h.geometry), keptRule},
		{"GET /events/{slug}/live", h.with(h.live), streamRule},
		{"GET /events/{slug}/on-sale.ics", h.with(h.onSaleCalendar), pageRule},

		{"POST /events/{slug}/claims", h.act(h.claim), claimsRule},
		{"DELETE /events/{slug}/claims/{idx}", h.act(h.release), pageRule},
		{"DELETE /events/{slug}/claims", h.act(h.releaseAll), claimsRule},
		{"POST /events/{slug}/releases", h.act(h.releaseForm), secretRule},
		{"GET /events/{slug}/hold", h.by(h.hold), pageRule},
		{"POST /events/{slug}/hold/extension", h.act(h.extend), secretRule},

		{"GET /events/{slug}/challenge", h.by(h.challenge), secretRule},
		{"POST /events/{slug}/challenge", h.by(h.solve), secretRule},

		{"GET /events/{slug}/waitlist", h.by(h.waitList), pageRule},
		{"POST /events/{slug}/waitlist", h.once(h.by(h.joinWaitList)), pageRule},
		{"GET /waitlist/{code}", h.waiter(h.waitPlace), pageRule},
		{"POST /waitlist/{code}", h.waiterOnce(h.changePlace), pageRule},
		{"POST /waitlist/{code}/confirm", h.waiterOnce(h.confirmPlace), pageRule},
		{"POST /waitlist/{code}/card", h.waiter(h.saveCard), pageRule},
		{"POST /waitlist/{code}/take", h.acting(h.onEntry(h.takeOffer)), pageRule},
		{"POST /waitlist/{code}/decline", h.waiterOnce(h.declineOffer), pageRule},
		{"POST /waitlist/{code}/leave", h.waiterOnce(h.leavePlace), pageRule},

		{"GET /events/{slug}/checkout", h.by(h.checkout), pageRule},
		{"POST /events/{slug}/orders", h.act(h.place), pageRule},
		{"GET /orders/{code}", h.order, pageRule},
		{"GET /orders/{code}/calendar.ics", h.calendar, pageRule},
		{"GET /orders/{code}/tickets.pdf", h.paper, pageRule},
		{"GET /door/worker.js", h.doorWorker, pageRule},
		{"GET /door/{secret}", h.door, secretRule},
		{"GET /door/{secret}/tickets", h.expected, secretRule},
		{"POST /door/{secret}/scans", h.scan, secretRule},
		{"POST /orders/{code}/mails", h.resend, pageRule},
		{"POST /orders/{code}/cancellations", h.cancel, pageRule},
		{"POST /orders/{code}/attendances", h.attend, secretRule},
		{"GET /orders/{code}/attendances/{ticket}", h.attendance, secretRule},

		{"GET /payments/{code}", h.payment, pageRule},
		{"POST /payments/{code}/stop", h.once(h.stopPayment), pageRule},
		{"POST /payments/{code}/mails", h.once(h.confirmAgain), pageRule},
		{"GET /confirmations/{token}", h.confirmation, secretRule},
		{"POST /confirmations/{token}", h.confirmOrder, secretRule},
		{"GET /demo-card/{reference}", h.demoCard, pageRule},
		{"POST /demo-card/{reference}", h.once(h.answerDemoCard), pageRule},
		{"POST /webhooks/stripe", h.stripeWebhook, pageRule},
		{"GET /credit", h.visit(h.statement), pageRule},
		{"POST /credit/vouchers", h.once(h.visit(h.redeem)), pageRule},
		{"POST /credit/links", h.visit(h.askLink), pageRule},
		{"GET /credit/links/{token}", h.link, pageRule},
		{"POST /credit/session", h.visit(h.signIn), pageRule},
		{"DELETE /credit/session", h.visit(h.signOut), pageRule},
		{"POST /credit/session/end", h.visit(h.signOut), pageRule},

		{"GET /rooms/{slug}", h.in(h.room), pageRule},
		{"GET /rooms/{slug}/status", h.in(h.roomStatus), statusRule},
		{"GET /rooms/{slug}/live", h.in(h.roomLive), streamRule},
		{"GET /rooms/{slug}/draw", h.in(h.roomDraw), pageRule},
		{"GET /rooms/{slug}/draw.json", h.in(h.roomRecord), minuteRule},
		{"GET /rooms/{slug}/invitations/{invitation}", h.in(h.roomInvitation), pageRule},
		{"GET /rooms/{slug}/work", h.in(h.roomWork), pageRule},
		{"POST /rooms/{slug}/places", h.in(h.join), secretRule},
		{"POST /rooms/{slug}/presence", h.in(h.present), secretRule},
		{"POST /rooms/{slug}/admissions", h.in(h.admit), secretRule},
		{"POST /rooms/{slug}/departure", h.in(h.depart), secretRule},

		{"GET /desk", h.member(organizers.Enter, h.deskEvents), secretRule},
		{"GET /desk/events/new", h.member(organizers.Manage, h.deskNewEvent), secretRule},
		{"POST /desk/events", h.member(organizers.Manage, h.deskCreateEvent), plansRule},
		{"GET /desk/events/{slug}", h.desk(organizers.Look, h.deskEvent), secretRule},
		{"GET /desk/events/{slug}/settings", h.desk(organizers.Manage, h.deskSettings), secretRule},
		{"POST /desk/events/{slug}/settings", h.desk(organizers.Manage, h.deskSaveSettings), secretRule},
		{"POST /desk/events/{slug}/status", h.desk(organizers.Manage, h.deskSetStatus), secretRule},
		{"POST /desk/events/{slug}/copies", h.desk(organizers.Manage, h.deskCopyEvent), secretRule},
		{"GET /desk/events/{slug}/preview", h.desk(organizers.Look, h.deskPreview), secretRule},
		{"GET /desk/events/{slug}/seats", h.desk(organizers.Sell, h.deskSeats), secretRule},
		{"GET /desk/events/{slug}/seats/{idx}", h.desk(organizers.Look, h.deskSeat), secretRule},
		{"POST /desk/events/{slug}/blocks", h.desk(organizers.Manage, h.keeping("blocked seats", "blocked", h.deskBlock)), secretRule},
		{"POST /desk/events/{slug}/unblocks", h.desk(organizers.Manage, h.keeping("unblocked seats", "unblocked", h.deskUnblock)), secretRule},
		{"POST /desk/events/{slug}/sales", h.desk(organizers.Sell, h.deskSell), secretRule},
		{"GET /desk/events/{slug}/orders", h.desk(organizers.Look, h.deskOrders), secretRule},
		{"POST /desk/events/{slug}/cancellations", h.deskOnce(organizers.Manage, h.deskCancelMany), secretRule},
		{"GET /desk/events/{slug}/orders/{code}", h.desk(organizers.Look, h.deskOrder), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/cancellations", h.desk(organizers.Manage, h.onDeskOrder(h.deskCancel)), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/refunds", h.desk(organizers.Manage, h.onDeskOrder(h.deskRefund)), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/moves", h.desk(organizers.Manage, h.onDeskOrder(h.deskMove)), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/mails", h.desk(organizers.Manage, h.onDeskOrder(h.deskResend)), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/payments", h.desk(organizers.Sell, h.onDeskOrder(h.deskPaid)), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/payouts", h.proved(organizers.Manage, h.ofEvent(h.onDeskOrder(h.deskPaidOut))), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/due", h.desk(organizers.Manage, h.onDeskOrder(h.deskExtendDue)), secretRule},
		{"GET /desk/events/{slug}/exports/{file}", h.desk(organizers.Manage, h.deskExport), secretRule},
		{"GET /desk/events/{slug}/doors", h.desk(organizers.Sell, h.deskDoors), secretRule},
		{"POST /desk/events/{slug}/doors", h.desk(organizers.Sell, h.deskOpenDoor), secretRule},
		{"POST /desk/events/{slug}/doors/closing", h.desk(organizers.Manage, h.deskCloseDoors), secretRule},
		{"GET /desk/events/{slug}/messages", h.desk(organizers.Manage, h.deskMessages), secretRule},
		{"POST /desk/events/{slug}/messages", h.desk(organizers.Manage, h.deskTell), secretRule},
		{"GET /desk/events/{slug}/shares", h.desk(organizers.Manage, h.deskShares), secretRule},
		{"POST /desk/events/{slug}/shares", h.desk(organizers.Manage, h.deskShare), secretRule},
		{"POST /desk/events/{slug}/shares/{id}/revocation", h.desk(organizers.Manage, h.deskUnshare), secretRule},
		{"GET /boards/{token}", h.onBoard(h.board), secretRule},
		{"GET /boards/{token}/live", h.onBoard(h.boardFeed), streamRule},
		{"GET /desk/events/{slug}/live", h.desk(organizers.Look, h.deskFeed), streamRule},
		{"GET /desk/events/{slug}/replay.bin", h.desk(organizers.Look, h.deskReplay), secretRule},
		{"POST /desk/events/{slug}/seen", h.deskOnce(organizers.Sell, h.deskSeen), secretRule},
		{"GET /desk/events/{slug}/limits", h.desk(organizers.Look, h.deskLimits), secretRule},
		{"POST /desk/events/{slug}/limits", h.desk(organizers.Manage, h.deskSetLimits), secretRule},
		{"POST /desk/events/{slug}/room", h.desk(organizers.Manage, h.deskRoom), secretRule},
		{"GET /desk/events/{slug}/waitlist", h.desk(organizers.Look, h.deskWaitList), secretRule},
		{"POST /desk/events/{slug}/waitlist", h.desk(organizers.Manage, h.deskSteerWaitList), secretRule},

		{"GET /desk/team", h.member(organizers.Look, h.deskTeam), secretRule},
		{"POST /desk/team", h.member(organizers.Own, h.renameTeam), secretRule},
		{"POST /desk/teams", h.once(h.member(organizers.Own, h.newTeam)), secretRule}, // read first: the first answer replaces the session that a repeat has
		{"POST /desk/team/invitations", h.proved(organizers.Own, h.invite), secretRule},
		{"POST /desk/team/invitations/{id}/withdrawal", h.member(organizers.Own, h.withdrawInvitation), secretRule},
		{"POST /desk/team/members/{id}", h.proved(organizers.Own, h.setRole), secretRule},
		{"POST /desk/team/members/{id}/removal", h.proved(organizers.Own, h.removeMember), secretRule},
		{"POST /desk/team/second-factor", h.proved(organizers.Own, h.demandSecond), secretRule},
		{"GET /desk/keys", h.member(organizers.Own, h.apiKeys), secretRule},
		{"POST /desk/keys", h.proved(organizers.Own, h.newAPIKey), secretRule},
		{"POST /desk/keys/{id}/revocation", h.member(organizers.Own, h.revokeAPIKey), secretRule},
		{"GET /desk/hooks", h.member(organizers.Own, h.hookList), secretRule},
		{"POST /desk/hooks", h.proved(organizers.Own, h.newHook), secretRule},
		{"GET /desk/hooks/{id}", h.member(organizers.Own, h.onHook(h.showHook)), secretRule},
		{"POST /desk/hooks/{id}", h.proved(organizers.Own, h.onHook(h.changeHook)), secretRule},
		{"POST /desk/hooks/{id}/secrets", h.proved(organizers.Own, h.onHook(h.newHookSecret)), secretRule},
		{"POST /desk/hooks/{id}/tests", h.member(organizers.Own, h.onHook(h.tryHook)), secretRule},
		{"POST /desk/hooks/{id}/switch", h.member(organizers.Own, h.onHook(h.switchHook)), secretRule},
		{"POST /desk/hooks/{id}/notices/{notice}/repeats", h.member(organizers.Own, h.onHook(h.repeatNotice)), secretRule},
		{"POST /desk/hooks/{id}/removal", h.member(organizers.Own, h.onHook(h.removeHook)), secretRule},
		{"GET /desk/log", h.member(organizers.Manage, h.deskLog), secretRule},

		{"GET /desk/account", h.member(organizers.Self, h.deskAccount), secretRule},
		{"POST /desk/account", h.memberOnce(organizers.Self, h.renameAccount), secretRule},
		{"POST /desk/account/password", h.once(h.member(organizers.Self, h.changePassword)), secretRule}, // as /desk/teams
		{"POST /desk/account/passkeys/options", h.proved(organizers.Self, h.newPasskeyOptions), secretRule},
		{"POST /desk/account/passkeys", h.proved(organizers.Self, h.addPasskey), secretRule},
		{"POST /desk/account/passkeys/{id}", h.memberOnce(organizers.Self, h.renamePasskey), secretRule},
		{"POST /desk/account/passkeys/{id}/removal", h.provedOnce(organizers.Self, h.removePasskey), secretRule},
		{"POST /desk/account/sessions/{id}/end", h.provedOnce(organizers.Self, h.endSession), secretRule},
		{"GET /desk/account/second-factor", h.proved(organizers.Self, h.secondFactor), secretRule},
		{"POST /desk/account/codes", h.proved(organizers.Self, h.confirmApp), secretRule},
		{"POST /desk/account/codes/removal", h.provedOnce(organizers.Self, h.removeApp), secretRule},
		{"POST /desk/account/recovery", h.proved(organizers.Self, h.newRecoveryCodes), secretRule},
		{"GET /desk/session/proof", h.member(organizers.Self, h.proofPage), secretRule},
		{"POST /desk/session/proof", h.member(organizers.Self, h.confirm), secretRule},
		{"POST /desk/session/proof/passkey", h.member(organizers.Self, h.provePasskey), secretRule},
		{"POST /desk/session/team", h.member(organizers.Self, h.deskSwitch), secretRule},
		{"POST /desk/session/everywhere", h.proved(organizers.Self, h.deskSignOutEverywhere), secretRule},

		{"GET /desk/events/{slug}/plan", h.desk(organizers.Manage, h.eventPlan), secretRule},
		{"POST /desk/events/{slug}/plan", h.desk(organizers.Manage, h.replacePlan), secretRule},
		{"POST /desk/events/{slug}/plan/copies", h.desk(organizers.Manage, h.copyPlan), secretRule},
		{"GET /desk/plans", h.member(organizers.Look, h.plans), secretRule},
		{"POST /desk/plans", h.member(organizers.Manage, h.newPlan), secretRule},
		{"GET /desk/plans/{plan}", h.member(organizers.Look, h.plan), secretRule},
		{"GET /desk/plans/{plan}/editor", h.member(organizers.Manage, h.editor), secretRule},
		{"GET /desk/plans/{plan}/versions/{file}", h.member(organizers.Look, h.planVersion), secretRule},
		{"POST /desk/plans/{plan}/versions", h.member(organizers.Manage, h.savePlan), plansRule},
		{"POST /desk/imports", h.memberOnce(organizers.Manage, h.newImport), plansRule},
		{"GET /desk/imports/{id}", h.member(organizers.Manage, h.showImport), secretRule},
		{"POST /desk/imports/{id}", h.member(organizers.Manage, h.takeImport), secretRule},
		{"GET /desk/session", h.visit(h.deskDoor), secretRule},
		{"POST /desk/session", h.visit(h.deskSignIn), secretRule},
		{"DELETE /desk/session", h.visit(h.deskSignOut), secretRule},
		{"POST /desk/session/end", h.visit(h.deskSignOut), secretRule},
		{"GET /desk/session/second", h.visit(h.secondStep), secretRule},
		{"POST /desk/session/second", h.visit(h.showSecond), secretRule},
		{"POST /desk/session/options", h.visit(h.passkeyOptions), secretRule},
		{"POST /desk/session/passkey", h.visit(h.passkeySignIn), secretRule},
		{"GET /desk/setup/{token}", h.setup, secretRule},
		{"POST /desk/setup/{token}", h.once(h.visit(h.setUp)), secretRule},
		{"GET /desk/invitations/{token}", h.visit(h.invitation), secretRule},
		{"POST /desk/invitations/{token}", h.once(h.visit(h.joinTeam)), secretRule},
		{"GET /desk/password", h.forgotPassword, secretRule},
		{"POST /desk/password", h.once(h.askPassword), secretRule},
		{"GET /desk/password/{token}", h.passwordLink, secretRule},
		{"POST /desk/password/{token}", h.once(h.visit(h.resetPassword)), secretRule},

		{"GET /openapi.yaml", h.openapi, pageRule},
		{"GET /.well-known/security.txt", h.securityText, minuteRule},
		{"GET /healthz", h.healthz, secretRule},
		{"GET /readyz", h.readyz, secretRule},
	}
}

// routes answers the addresses of a table, and for all others that they are none.
func (h *Handlers) routes(list []route) http.Handler {
	mux, table := http.NewServeMux(), http.NewServeMux()
	for _, r := range list {
		mux.Handle(r.pattern, h.ruled(r.rule, h.observed(r.pattern, h.answer(r.handler))))
		table.HandleFunc(r.pattern, http.NotFound)
	}
	mux.Handle("GET /static/", h.ruled(keptRule, static.Handler()))
	mux.Handle("/", h.ruled(pageRule, h.observed("none", h.unrouted(table))))
	return mux
}

// unrouted answers addresses and methods that are not in the table with a page of ours. Who looks at the address of a form,
// which a browser shows after a refusal, or ends an address with a slash too many, is led to the page they mean.
func (h *Handlers) unrouted(table *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		probe := &statusOnly{header: http.Header{}}
		table.ServeHTTP(probe, r)
		looks := r.Method == http.MethodGet && !wantsJSON(r)
		switch {
		case probe.status == http.StatusMethodNotAllowed && looks:
			path, _ := onward(r)
			http.Redirect(w, r, path, http.StatusSeeOther)
		case probe.status == http.StatusMethodNotAllowed:
			w.Header().Set("Allow", probe.header.Get("Allow"))
			h.fail(w, r, errMethod)
		case looks && slashed(table, r):
			to := *r.URL
			to.Path, to.RawPath = strings.TrimSuffix(to.Path, "/"), strings.TrimSuffix(to.RawPath, "/")
			http.Redirect(w, r, to.RequestURI(), http.StatusSeeOther)
		default:
			h.fail(w, r, errNoPage)
		}
	}
}

// slashed tells whether an address is in the table but for the slash at its end.
func slashed(table *http.ServeMux, r *http.Request) bool {
	path, ends := strings.CutSuffix(r.URL.Path, "/")
	if !ends {
		return false
	}
	without := r.Clone(r.Context())
	without.URL.Path, without.URL.RawPath = path, ""
	_, pattern := table.Handler(without)
	return pattern != ""
}

// statusOnly takes the mux's own answer, of which only status and Allow are wanted.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header { return s.header }

func (s *statusOnly) WriteHeader(status int) { s.status = status }

func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
