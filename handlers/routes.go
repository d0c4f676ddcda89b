package handlers

import (
	"net/http"
	"strings"

	"github.com/usherbox/usher/seats/desk"
	"github.com/usherbox/usher/static"
)

// route is one address and what answers it.
type route struct {
	pattern string
	handler handler
}

// table is every address of the site, to be read from top to bottom.
func (h *Handlers) table() []route {
	return []route{
		{"GET /{$}", h.home},
		{"GET /events", h.events},
		{"GET /events/{slug}", h.with(h.event)},
		{"GET /events/{slug}/sections/{section}", h.with(h.section)},
		{"GET /events/{slug}/seats", h.with(h.seats)},
		{"GET /events/{slug}/map.bin", h.with(h.mapBin)},
		{"GET /events/{slug}/geometry/{file}", h.with(h.geometry)},
		{"GET /events/{slug}/live", h.with(h.live)},
		{"GET /events/{slug}/on-sale.ics", h.with(h.onSaleCalendar)},

		{"POST /events/{slug}/claims", h.act(h.claim)},
		{"DELETE /events/{slug}/claims/{idx}", h.act(h.release)},
		{"DELETE /events/{slug}/claims", h.act(h.releaseAll)},
		{"POST /events/{slug}/releases", h.act(h.releaseForm)},
		{"GET /events/{slug}/hold", h.by(h.hold)},
		{"POST /events/{slug}/hold/extension", h.act(h.extend)},

		{"GET /events/{slug}/waitlist", h.by(h.waitList)},
		{"POST /events/{slug}/waitlist", h.once(h.by(h.joinWaitList))},
		{"GET /waitlist/{code}", h.waiter(h.waitPlace)},
		{"POST /waitlist/{code}", h.once(h.waiter(h.changePlace))},
		{"POST /waitlist/{code}/confirm", h.once(h.waiter(h.confirmPlace))},
		{"POST /waitlist/{code}/card", h.waiter(h.saveCard)},
		{"POST /waitlist/{code}/take", h.waiter(h.takeOffer)},
		{"POST /waitlist/{code}/decline", h.once(h.waiter(h.declineOffer))},
		{"POST /waitlist/{code}/leave", h.once(h.waiter(h.leavePlace))},

		{"GET /events/{slug}/checkout", h.by(h.checkout)},
		{"POST /events/{slug}/orders", h.act(h.place)},
		{"GET /orders/{code}", h.order},
		{"GET /orders/{code}/calendar.ics", h.calendar},
		{"GET /orders/{code}/tickets.pdf", h.paper},
		{"GET /door/worker.js", h.doorWorker},
		{"GET /door/{secret}", h.door},
		{"GET /door/{secret}/tickets", h.expected},
		{"POST /door/{secret}/scans", h.scan},
		{"POST /orders/{code}/mails", h.resend},
		{"POST /orders/{code}/cancellations", h.cancel},

		{"GET /payments/{code}", h.payment},
		{"POST /payments/{code}/stop", h.once(h.stopPayment)},
		{"GET /demo-card/{reference}", h.demoCard},
		{"POST /demo-card/{reference}", h.once(h.answerDemoCard)},
		{"POST /webhooks/stripe", h.stripeWebhook},
		{"GET /credit", h.visit(h.statement)},
		{"POST /credit/vouchers", h.once(h.visit(h.redeem))},
		{"POST /credit/links", h.visit(h.askLink)},
		{"GET /credit/links/{token}", h.link},
		{"POST /credit/session", h.visit(h.signIn)},
		{"DELETE /credit/session", h.visit(h.signOut)},
		{"POST /credit/session/end", h.visit(h.signOut)},

		{"GET /rooms/{slug}", h.in(h.room)},
		{"GET /rooms/{slug}/status", h.in(h.roomStatus)},
		{"GET /rooms/{slug}/live", h.in(h.roomLive)},
		{"GET /rooms/{slug}/draw", h.in(h.roomDraw)},
		{"GET /rooms/{slug}/draw.json", h.in(h.roomRecord)},
		{"GET /rooms/{slug}/invitations/{invitation}", h.in(h.roomInvitation)},
		{"GET /rooms/{slug}/work", h.in(h.roomWork)},
		{"POST /rooms/{slug}/places", h.in(h.join)},
		{"POST /rooms/{slug}/presence", h.in(h.present)},
		{"POST /rooms/{slug}/admissions", h.in(h.admit)},
		{"POST /rooms/{slug}/departure", h.in(h.depart)},

		{"GET /desk", h.member(desk.Enter, h.deskEvents)},
		{"GET /desk/events/new", h.member(desk.Manage, h.deskNewEvent)},
		{"POST /desk/events", h.member(desk.Manage, h.deskCreateEvent)},
		{"GET /desk/events/{slug}", h.desk(desk.Look, h.deskEvent)},
		{"GET /desk/events/{slug}/settings", h.desk(desk.Manage, h.deskSettings)},
		{"POST /desk/events/{slug}/settings", h.desk(desk.Manage, h.deskSaveSettings)},
		{"POST /desk/events/{slug}/status", h.desk(desk.Manage, h.deskSetStatus)},
		{"POST /desk/events/{slug}/copies", h.desk(desk.Manage, h.deskCopyEvent)},
		{"GET /desk/events/{slug}/preview", h.desk(desk.Look, h.deskPreview)},
		{"GET /desk/events/{slug}/seats", h.desk(desk.Sell, h.deskSeats)},
		{"GET /desk/events/{slug}/seats/{idx}", h.desk(desk.Look, h.deskSeat)},
		{"POST /desk/events/{slug}/blocks", h.desk(desk.Manage, h.keeping("blocked seats", "blocked", h.deskBlock))},
		{"POST /desk/events/{slug}/unblocks", h.desk(desk.Manage, h.keeping("unblocked seats", "unblocked", h.deskUnblock))},
		{"POST /desk/events/{slug}/sales", h.desk(desk.Sell, h.deskSell)},
		{"GET /desk/events/{slug}/orders", h.desk(desk.Look, h.deskOrders)},
		{"POST /desk/events/{slug}/cancellations", h.once(h.desk(desk.Manage, h.deskCancelMany))},
		{"GET /desk/events/{slug}/orders/{code}", h.desk(desk.Look, h.deskOrder)},
		{"POST /desk/events/{slug}/orders/{code}/cancellations", h.desk(desk.Manage, h.onDeskOrder(h.deskCancel))},
		{"POST /desk/events/{slug}/orders/{code}/refunds", h.desk(desk.Manage, h.onDeskOrder(h.deskRefund))},
		{"POST /desk/events/{slug}/orders/{code}/moves", h.desk(desk.Manage, h.onDeskOrder(h.deskMove))},
		{"POST /desk/events/{slug}/orders/{code}/mails", h.desk(desk.Manage, h.onDeskOrder(h.deskResend))},
		{"POST /desk/events/{slug}/orders/{code}/payments", h.desk(desk.Sell, h.onDeskOrder(h.deskPaid))},
		{"POST /desk/events/{slug}/orders/{code}/payouts", h.desk(desk.Manage, h.onDeskOrder(h.deskPaidOut))},
		{"GET /desk/events/{slug}/exports/{file}", h.desk(desk.Manage, h.deskExport)},
		{"GET /desk/events/{slug}/doors", h.desk(desk.Sell, h.deskDoors)},
		{"POST /desk/events/{slug}/doors", h.desk(desk.Sell, h.deskOpenDoor)},
		{"POST /desk/events/{slug}/doors/closing", h.desk(desk.Manage, h.deskCloseDoors)},
		{"GET /desk/events/{slug}/messages", h.desk(desk.Manage, h.deskMessages)},
		{"POST /desk/events/{slug}/messages", h.desk(desk.Manage, h.deskTell)},
		{"GET /desk/events/{slug}/shares", h.desk(desk.Manage, h.deskShares)},
		{"POST /desk/events/{slug}/shares", h.desk(desk.Manage, h.deskShare)},
		{"POST /desk/events/{slug}/shares/{id}/revocation", h.desk(desk.Manage, h.deskUnshare)},
		{"GET /boards/{token}", h.onBoard(h.board)},
		{"GET /boards/{token}/live", h.onBoard(h.boardFeed)},
		{"GET /desk/events/{slug}/live", h.desk(desk.Look, h.deskFeed)},
		{"GET /desk/events/{slug}/replay.bin", h.desk(desk.Look, h.deskReplay)},
		{"POST /desk/events/{slug}/seen", h.once(h.desk(desk.Sell, h.deskSeen))},
		{"POST /desk/events/{slug}/room", h.desk(desk.Manage, h.deskRoom)},
		{"GET /desk/events/{slug}/waitlist", h.desk(desk.Look, h.deskWaitList)},
		{"POST /desk/events/{slug}/waitlist", h.desk(desk.Manage, h.deskSteerWaitList)},

		{"GET /desk/team", h.member(desk.Look, h.deskTeam)},
		{"POST /desk/team", h.member(desk.Own, h.renameTeam)},
		{"POST /desk/teams", h.once(h.member(desk.Own, h.newTeam))},
		{"POST /desk/team/invitations", h.member(desk.Own, h.invite)},
		{"POST /desk/team/invitations/{id}/withdrawal", h.member(desk.Own, h.withdrawInvitation)},
		{"POST /desk/team/members/{id}", h.member(desk.Own, h.setRole)},
		{"POST /desk/team/members/{id}/removal", h.member(desk.Own, h.removeMember)},
		{"GET /desk/keys", h.member(desk.Own, h.apiKeys)},
		{"POST /desk/keys", h.member(desk.Own, h.newAPIKey)},
		{"POST /desk/keys/{id}/revocation", h.member(desk.Own, h.revokeAPIKey)},
		{"GET /desk/hooks", h.member(desk.Own, h.hookList)},
		{"POST /desk/hooks", h.member(desk.Own, h.newHook)},
		{"GET /desk/hooks/{id}", h.member(desk.Own, h.onHook(h.showHook))},
		{"POST /desk/hooks/{id}", h.member(desk.Own, h.onHook(h.changeHook))},
		{"POST /desk/hooks/{id}/secrets", h.member(desk.Own, h.onHook(h.newHookSecret))},
		{"POST /desk/hooks/{id}/tests", h.member(desk.Own, h.onHook(h.tryHook))},
		{"POST /desk/hooks/{id}/switch", h.member(desk.Own, h.onHook(h.switchHook))},
		{"POST /desk/hooks/{id}/notices/{notice}/repeats", h.member(desk.Own, h.onHook(h.repeatNotice))},
		{"POST /desk/hooks/{id}/removal", h.member(desk.Own, h.onHook(h.removeHook))},
		{"GET /desk/log", h.member(desk.Manage, h.deskLog)},

		{"GET /desk/account", h.member(desk.Self, h.deskAccount)},
		{"POST /desk/account", h.once(h.member(desk.Self, h.renameAccount))},
		{"POST /desk/account/password", h.once(h.member(desk.Self, h.changePassword))},
		{"POST /desk/account/passkeys/options", h.member(desk.Self, h.newPasskeyOptions)},
		{"POST /desk/account/passkeys", h.member(desk.Self, h.addPasskey)},
		{"POST /desk/account/passkeys/{id}", h.once(h.member(desk.Self, h.renamePasskey))},
		{"POST /desk/account/passkeys/{id}/removal", h.once(h.member(desk.Self, h.removePasskey))},
		{"POST /desk/session/team", h.member(desk.Self, h.deskSwitch)},
		{"POST /desk/session/everywhere", h.member(desk.Self, h.deskSignOutEverywhere)},

		{"GET /desk/events/{slug}/plan", h.desk(desk.Manage, h.eventPlan)},
		{"POST /desk/events/{slug}/plan", h.desk(desk.Manage, h.replacePlan)},
		{"POST /desk/events/{slug}/plan/copies", h.desk(desk.Manage, h.copyPlan)},
		{"GET /desk/plans", h.member(desk.Look, h.plans)},
		{"POST /desk/plans", h.member(desk.Manage, h.newPlan)},
		{"GET /desk/plans/{plan}", h.member(desk.Look, h.plan)},
		{"GET /desk/plans/{plan}/editor", h.member(desk.Manage, h.editor)},
		{"GET /desk/plans/{plan}/versions/{file}", h.member(desk.Look, h.planVersion)},
		{"POST /desk/plans/{plan}/versions", h.member(desk.Manage, h.savePlan)},
		{"POST /desk/imports", h.once(h.member(desk.Manage, h.newImport))},
		{"GET /desk/imports/{id}", h.member(desk.Manage, h.showImport)},
		{"POST /desk/imports/{id}", h.member(desk.Manage, h.takeImport)},
		{"GET /desk/session", h.visit(h.deskDoor)},
		{"POST /desk/session", h.visit(h.deskSignIn)},
		{"DELETE /desk/session", h.visit(h.deskSignOut)},
		{"POST /desk/session/end", h.visit(h.deskSignOut)},
		{"POST /desk/session/options", h.visit(h.passkeyOptions)},
		{"POST /desk/session/passkey", h.visit(h.passkeySignIn)},
		{"GET /desk/setup/{token}", h.setup},
		{"POST /desk/setup/{token}", h.once(h.visit(h.setUp))},
		{"GET /desk/invitations/{token}", h.visit(h.invitation)},
		{"POST /desk/invitations/{token}", h.once(h.visit(h.joinTeam))},
		{"GET /desk/password", h.forgotPassword},
		{"POST /desk/password", h.once(h.askPassword)},
		{"GET /desk/password/{token}", h.passwordLink},
		{"POST /desk/password/{token}", h.once(h.visit(h.resetPassword))},

		{"GET /openapi.yaml", h.openapi},
		{"GET /healthz", h.healthz},
		{"GET /readyz", h.readyz},
	}
}

// routes answers the addresses of a table, and for all others that they are none.
func (h *Handlers) routes(list []route) http.Handler {
	mux, table := http.NewServeMux(), http.NewServeMux()
	for _, r := range list {
		mux.HandleFunc(r.pattern, h.observed(r.pattern, h.answer(r.handler)))
		table.HandleFunc(r.pattern, http.NotFound)
	}
	mux.Handle("GET /static/", static.Handler())
	mux.HandleFunc("/", h.observed("none", h.unrouted(table)))
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
