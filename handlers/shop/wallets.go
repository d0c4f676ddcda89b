package shop

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/wallets"
	"github.com/usherbox/usher/views/shop"
)

var (
	errNoWallet = web.NewProblem(404, "unknown", text.Mark("This box office does not offer tickets for this wallet."), text.Mark("Your ticket is valid without it."), text.Mark("Show the ticket on the order’s page, or print it."))
	errNoPass   = web.NewProblem(409, "pass", text.Mark("This ticket cannot be added to a wallet: it is not valid, or not paid."), web.NothingChanged, text.Mark("Look at the order's page."))
	errPass     = web.NewProblem(401, "pass", text.Mark("There is no such pass, or its token is wrong."), web.NothingChanged, text.Mark("Add the ticket to the wallet again from the order’s page."))
	errDevice   = web.NewProblem(422, "invalid", text.Mark("The request is not one of a device with passes."), web.NothingChanged, text.Mark("Send a device id of up to 100 characters, and what Apple’s protocol asks for in JSON."))
	errDevices  = web.NewProblem(409, "too_many", text.Mark("Too many devices have this pass."), web.NothingChanged, text.Mark("Remove it from another device first."))
	errLogs     = web.NewProblem(429, "too_often", text.Mark("Too many log messages came from this network."), web.NothingChanged, text.Mark("Wait a minute, then try again."))
)

// logsPerNetwork is how often devices of one network send something to the log within a minute.
const logsPerNetwork = 10

// passOf makes the pass of a ticket of an order; of none if ticket is not one of the order.
func (h *Handlers) passOf(r *http.Request, order orders.Order, s *seats.Sale, ticket, serial seats.ID) (pass wallets.Pass, err error) {
	look, err := web.TicketPrint(r.Context(), h.Pages, h.Print(r, s.Event.Team), s.Event.ID)
	if err != nil {
		h.Log.Warn("a pass has no picture", "error", err)
	}
	var mine orders.Ticket
	for _, t := range order.Tickets {
		if t.ID == ticket {
			mine = t
		}
	}
	if pass, err = (shop.OrderPage{Sale: shop.Sale{Event: s.Event, Plan: s.Plan}, Order: order}).Pass(r.Context(), look, mine); err != nil {
		return pass, err
	}
	pass.Serial, pass.Token = serial, wallets.Token(order.Code, serial)
	if home := h.Origin(r); strings.HasPrefix(home, "https://") { // phones ask by https alone
		pass.Service = home + "/wallets/" + text.Tag(r.Context())
	}
	return pass, nil
}

// asked makes the pass of the ticket of the address, for its holder.
func (h *Handlers) asked(r *http.Request) (pass wallets.Pass, s *seats.Sale, err error) {
	order, s, err := h.find(r)
	if err != nil {
		return pass, s, err
	}
	r = r.WithContext(h.Reading(r)) // a phone may ask for a file as programs do
	ticket, err := seats.ParseID(r.PathValue("ticket"))
	if err != nil {
		return pass, s, orders.ErrNoTicket
	}
	serial := ticket
	if order.Received != nil {
		serial = order.Received.ID
	} else if serial, err = h.Wallets.SerialOf(r.Context(), ticket); err != nil {
		return pass, s, err
	}
	if pass, err = h.passOf(r, order, s, ticket, serial); err != nil {
		return pass, s, err
	}
	switch {
	case pass.Ticket == seats.ID{}:
		return pass, s, orders.ErrNoTicket
	case order.Rotates:
		return pass, s, errRotates
	case pass.Void != "" || order.Due() > 0 || s.Event.Online.On:
		return pass, s, errNoPass
	}
	return pass, s, nil
}

// ApplePass answers GET /orders/{code}/apple-wallet/{ticket} and GET /tickets/{code}/apple-wallet/{ticket}
func (h *Handlers) ApplePass(w http.ResponseWriter, r *http.Request) error {
	if h.Wallets.Apple == nil {
		return errNoWallet
	}
	pass, s, err := h.asked(r)
	if err != nil {
		return err
	}
	return h.writePass(w, pass, s.Event.Slug)
}

func (h *Handlers) writePass(w http.ResponseWriter, pass wallets.Pass, name string) error {
	file, err := h.Wallets.Apple.File(pass)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/vnd.apple.pkpass")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`.pkpass"`)
	_, _ = w.Write(file) // a reader who is gone needs none
	return nil
}

// GooglePass answers GET /orders/{code}/google-wallet/{ticket} and GET /tickets/{code}/google-wallet/{ticket}
func (h *Handlers) GooglePass(w http.ResponseWriter, r *http.Request) error {
	if h.Wallets.Google == nil {
		return errNoWallet
	}
	pass, _, err := h.asked(r)
	if err != nil {
		return err
	}
	link, err := h.Wallets.Google.Link(pass, h.Hub.Now())
	if err != nil {
		return err
	}
	w.Header().Set("Referrer-Policy", "no-referrer") // the address here is a secret
	http.Redirect(w, r, link, http.StatusSeeOther)
	return nil
}

// The rest is Apple's web service for passes: https://developer.apple.com/documentation/walletpasses/adding-a-web-service-to-update-passes

// holding returns the holder of the pass of the address, for a phone that shows its token.
func (h *Handlers) holding(r *http.Request) (wallets.Holding, error) {
	if h.Wallets.Apple == nil {
		return wallets.Holding{}, errNoWallet
	}
	token, said := strings.CutPrefix(r.Header.Get("Authorization"), "ApplePass ")
	if !said || r.PathValue("type") != h.Wallets.Apple.PassType {
		return wallets.Holding{}, errPass
	}
	of, err := h.Wallets.Find(r.Context(), r.PathValue("serial"), token)
	if errors.Is(err, wallets.ErrNoPass) {
		err = errPass
	}
	return of, err
}

// RegisterDevice answers POST /wallets/{language}/v1/devices/{device}/registrations/{type}/{serial}
func (h *Handlers) RegisterDevice(w http.ResponseWriter, r *http.Request) error {
	of, err := h.holding(r)
	if err != nil {
		return asJSON(r, err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return asJSON(r, err)
	}
	var said struct {
		PushToken string `json:"pushToken"`
	}
	if json.Unmarshal(body, &said) != nil { // what else a phone says is its own
		return asJSON(r, errDevice)
	}
	fresh, err := h.Wallets.Register(r.Context(), of, wallets.Device{ID: r.PathValue("device"), PushToken: said.PushToken})
	switch {
	case errors.Is(err, wallets.ErrDevice):
		return asJSON(r, errDevice)
	case errors.Is(err, wallets.ErrMany):
		return asJSON(r, errDevices)
	case err != nil:
		return asJSON(r, err)
	case fresh:
		w.WriteHeader(http.StatusCreated)
	}
	return nil
}

// UnregisterDevice answers DELETE /wallets/{language}/v1/devices/{device}/registrations/{type}/{serial}
func (h *Handlers) UnregisterDevice(_ http.ResponseWriter, r *http.Request) error {
	of, err := h.holding(r)
	if err != nil {
		return asJSON(r, err)
	}
	err = h.Wallets.Unregister(r.Context(), of, wallets.Device{ID: r.PathValue("device")})
	if errors.Is(err, wallets.ErrDevice) {
		err = errDevice
	}
	if err != nil {
		return asJSON(r, err)
	}
	return nil
}

type changedAnswer struct {
	SerialNumbers []string `json:"serialNumbers"`
	LastUpdated   string   `json:"lastUpdated"` // to be sent with the next question
}

// ChangedPasses answers GET /wallets/{language}/v1/devices/{device}/registrations/{type}. A phone shows no token here, but its id.
func (h *Handlers) ChangedPasses(w http.ResponseWriter, r *http.Request) error {
	if h.Wallets.Apple == nil || r.PathValue("type") != h.Wallets.Apple.PassType {
		return asJSON(r, errNoWallet)
	}
	since, _ := strconv.ParseInt(r.URL.Query().Get("passesUpdatedSince"), 10, 64) // a tag that is not ours is none
	serials, tag, err := h.Wallets.Changed(r.Context(), wallets.Device{ID: r.PathValue("device")}, since)
	switch {
	case errors.Is(err, wallets.ErrDevice):
		return asJSON(r, errDevice)
	case err != nil:
		return asJSON(r, err)
	case len(serials) == 0:
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return web.WriteJSON(w, http.StatusOK, changedAnswer{serials, strconv.FormatInt(tag, 10)})
}

// LatestPass answers GET /wallets/{language}/v1/passes/{type}/{serial}
func (h *Handlers) LatestPass(w http.ResponseWriter, r *http.Request) error {
	of, err := h.holding(r)
	if err != nil {
		return asJSON(r, err)
	}
	changed, err := h.Wallets.ChangedAt(r.Context(), of)
	if err != nil {
		return asJSON(r, err)
	}
	at := changed.Truncate(time.Second).Add(time.Second) // the header has no parts of a second
	if !changed.IsZero() && !at.After(h.Hub.Now()) {     // until then it may change once more
		if since, err := http.ParseTime(r.Header.Get("If-Modified-Since")); err == nil && !at.After(since) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
		w.Header().Set("Last-Modified", at.UTC().Format(http.TimeFormat))
	}
	read := h.Orders.Find
	if of.Received {
		read = h.Orders.ReceivedTicket
	}
	order, err := read(r.Context(), of.Code)
	if err != nil {
		return asJSON(r, err)
	}
	s, err := h.Inventory.Sale(r.Context(), order.Event)
	if err != nil {
		return asJSON(r, err)
	}
	r = r.WithContext(text.For(r.Context(), r.PathValue("language")))
	pass, err := h.passOf(r, order, s, of.Ticket, of.Serial)
	if err != nil {
		return asJSON(r, err)
	}
	return h.writePass(w, pass, s.Event.Slug)
}

// WalletLog answers POST /wallets/{language}/v1/log: phones say what is wrong with passes. Any visitor may send it, so little of it is written down.
func (h *Handlers) WalletLog(w http.ResponseWriter, r *http.Request) error {
	if h.Wallets.Apple == nil {
		return asJSON(r, errNoWallet)
	}
	if h.Hurried(w, r, web.CountsWalletLogs, logsPerNetwork) {
		return asJSON(r, errLogs)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return asJSON(r, err)
	}
	var said struct {
		Logs []string `json:"logs"`
	}
	if json.Unmarshal(body, &said) != nil {
		return asJSON(r, errDevice)
	}
	for _, line := range said.Logs[:min(len(said.Logs), 5)] {
		h.About(w, r).Info("a phone says of a pass", "said", strings.ToValidUTF8(line[:min(len(line), 300)], ""))
	}
	return nil
}
