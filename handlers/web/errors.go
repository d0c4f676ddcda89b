package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/series"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Problem is an error as a person reads it: what happened, what still holds, what to do next.
type Problem struct {
	Status            int
	Code              string
	What, Holds, Next string
	Args              []any // that fill the verbs of What
}

func (p *Problem) Error() string { return p.what(context.Background()) }

func (p *Problem) what(ctx context.Context) string { return text.T(ctx, p.What, p.Args...) }

// In says it in the language of its reader.
func (p *Problem) In(ctx context.Context) string {
	said := p.what(ctx)
	for _, more := range []string{p.Holds, p.Next} {
		if more != "" {
			said += " " + text.T(ctx, more)
		}
	}
	return said
}

// Brief says what happened and what to do, for a page that shows the form again.
func (p *Problem) Brief(ctx context.Context) string {
	if p.Next == "" {
		return p.what(ctx)
	}
	return p.what(ctx) + " " + text.T(ctx, p.Next)
}

func NewProblem(status int, code, what, holds, next string) *Problem {
	return &Problem{Status: status, Code: code, What: what, Holds: holds, Next: next}
}

var NothingChanged = text.Mark("Nothing has changed. Any seats you hold are still held.")

var (
	ErrNoPage       = NewProblem(404, "unknown", text.Mark("There is no such page."), NothingChanged, text.Mark("Go to the list of events."))
	errNoEvent      = NewProblem(404, "unknown", text.Mark("There is no such event."), NothingChanged, text.Mark("Go to the list of events."))
	ErrNoHold       = NewProblem(404, "no_hold", text.Mark("You have no seats held for this event."), "", text.Mark("Choose your seats first."))
	errNoOrder      = NewProblem(404, "unknown", text.Mark("There is no such order."), text.Mark("A confirmed order stays valid."), text.Mark("Open the link in the email about your order, or find your tickets with your email address."))
	errEnded        = NewProblem(401, "session_ended", text.Mark("Your session has expired."), text.Mark("Seats you held stay yours until the time you were shown. After that, others can take them."), text.Mark("Open the event again and choose your seats."))
	ErrMethod       = NewProblem(405, "method", text.Mark("This address does not take that method."), NothingChanged, text.Mark("The header Allow says which ones it takes."))
	errForeign      = NewProblem(403, "foreign", text.Mark("This request came from another site."), NothingChanged, text.Mark("Use the event’s own page."))
	errTooLarge     = NewProblem(413, "too_large", text.Mark("The request is larger than 64 KiB."), NothingChanged, text.Mark("Send less; no form here needs so much."))
	ErrMedia        = NewProblem(415, "media_type", text.Mark("What is sent to this address is JSON or a form."), NothingChanged, text.Mark("Send Content-Type: application/json."))
	errBroken       = NewProblem(503, "unavailable", text.Mark("The box office cannot answer at the moment."), text.Mark("Seats that you hold stay yours until the time you were shown."), text.Mark("Try again in a few seconds, with the same Idempotency-Key."))
	errKey          = NewProblem(422, "invalid", text.Mark("An Idempotency-Key has 1 to 200 printable characters."), NothingChanged, text.Mark("A random UUID will do."))
	ErrHoldID       = NewProblem(422, "invalid", text.Mark("An order names the id of its hold."), NothingChanged, text.Mark("Take it from the hold's answer, and name its seats."))
	ErrTotal        = NewProblem(422, "invalid", text.Mark("The total is not an amount in minor units."), NothingChanged, text.Mark("Take it from the hold's answer."))
	ErrNoDifference = NewProblem(422, "invalid", text.Mark("The exchange does not say which difference was shown."), NothingChanged, text.Mark("Send the difference of its answer, so that no other amount is charged."))
	ErrNoTotal      = NewProblem(422, "invalid", text.Mark("The order has no total, and it costs something."), NothingChanged, text.Mark("Send the total of the hold's answer, so that no other amount is charged."))
	ErrSeatLabel    = NewProblem(404, "unknown", text.Mark("The event has no seat of that name."), NothingChanged, text.Mark("Take the seats of your hold's answer."))
	ErrNoChoice     = NewProblem(422, "invalid", text.Mark("No ticket was chosen."), text.Mark("Your tickets are still valid."), text.Mark("Select the tickets to cancel, then send the form again."))
	ErrNoKey        = NewProblem(422, "invalid", text.Mark("The form has no key."), NothingChanged, text.Mark("Load the page again; programs send a key of 1 to 200 characters."))
	errNoDoor       = NewProblem(404, "unknown", text.Mark("This link to the door does not work."), text.Mark("It was revoked, or a letter of it is missing."), text.Mark("Ask the organizer for a new one."))
	errNoTicket     = NewProblem(404, "unknown", text.Mark("There is no such ticket."), text.Mark("Tickets that were not cancelled are still valid."), text.Mark("Look at the order's page."))
	ErrSeatIndex    = NewProblem(404, "unknown", text.Mark("This event has no such seat."), NothingChanged, text.Mark("Take the idx of your hold's answer."))
)

// TooOften sets Retry-After for a problem of too many requests, unless it is set.
func (p *Problem) TooOften(w http.ResponseWriter) {
	if p == errShare {
		w.Header().Set("Retry-After", "5")
	}
	if p.Status != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "" {
		return
	}
	after := time.Hour // for mail, which is counted by the hour
	if p.Code == errOften.Code && p.What == errOften.What {
		after = organizers.TriesWithin
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(after/time.Second)))
}

// Filled returns the problem with values for the verbs of What.
func (p *Problem) Filled(values ...any) *Problem {
	q := *p
	q.Args = values
	return &q
}

// Invalid is a request that cannot be read; args fill the verbs of what.
func Invalid(what string, args ...any) *Problem {
	return NewProblem(422, "invalid", what, NothingChanged, text.Mark("Send seats, or an area and a quantity, or how many of the best seats.")).Filled(args...)
}

// Problems are the words for errors.
type Problems map[error]*Problem

// Of returns the words for an error; nil if it has none.
func (p Problems) Of(err error) *Problem {
	for known, words := range p {
		if errors.Is(err, known) {
			return words
		}
	}
	return nil
}

var problems = Problems{
	orders.ErrUnpaid:        ErrUnpaid,
	orders.ErrNoOrder:       errNoOrder,
	payments.ErrNoPayment:   errNoOrder,
	orders.ErrNoTicket:      errNoTicket,
	orders.ErrNoDoor:        errNoDoor,
	idempotency.ErrNoKey:    ErrNoKey,
	idempotency.ErrUnderWay: errStillAtIt,
	seats.ErrNoEvent:        errNoEvent,
	series.ErrNoSeries:      errNoEvent,
	seats.ErrNoHold:         ErrNoHold,
	seats.ErrSessionEnded:   errEnded,
}

// Known returns the words for an error; nil if it is the program's own fault.
func (h *Server) Known(ctx context.Context, err error) *Problem {
	var p *Problem
	var nonsense *seats.ValidationError
	var mistakes orders.Mistakes
	var large *http.MaxBytesError
	var refusal *seats.Conflict
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &refusal):
		return NewProblem(http.StatusConflict, refusal.Code, refusal.In(ctx), "", "")
	case errors.As(err, &nonsense) && nonsense.Unknown:
		return NewProblem(404, "unknown", nonsense.In(ctx), text.Mark("What you hold is still yours."), text.Mark("Look at the event's seats."))
	case errors.As(err, &nonsense):
		return NewProblem(422, "invalid", nonsense.In(ctx), text.Mark("What you hold is still yours."), text.Mark("Change the request and send it again."))
	case errors.As(err, &large):
		return errTooLarge
	case errors.As(err, &mistakes):
		return NewProblem(422, "invalid", mistakes.In(ctx), text.Mark("Nothing was sold; what you hold is still yours."), text.Mark("Change it and send it again."))
	}
	if p := problems.Of(err); p != nil {
		return p
	}
	for _, explain := range h.Explain {
		if p := explain(ctx, err); p != nil {
			return p
		}
	}
	return unfit(err)
}

// Answer runs a handler and says what went wrong.
func (h *Server) Answer(rule Rule, next Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		whole := r
		switch {
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
		case rule.Crowd:
			r = h.inTime(r)
		default:
			ctx, cancel := context.WithTimeout(r.Context(), longestWait)
			defer cancel()
			r = r.WithContext(ctx)
		}
		if err := next(w, r); err != nil {
			h.Fail(w, whole, err)
		}
	}
}

// Fail answers with the words for an error; one that has none is told to the operator, and to the caller only that it
// was not their fault.
func (h *Server) Fail(w http.ResponseWriter, r *http.Request, err error) {
	ctx := h.Reading(r)
	p := h.Known(ctx, err)
	if p == nil {
		if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
			return // the caller went away
		}
		h.About(w, r).Error("a request failed", "error", err)
		w.Header().Set("Retry-After", "3")
		p = errBroken
	}
	about := fields(ctx, err)
	noteError(r, p.Code, messageOf(err, p), about)
	h.unshared(w, r)
	RetryLater(w, err)
	p.TooOften(w)
	number := ""
	if p.Status >= http.StatusInternalServerError {
		number = w.Header().Get(RequestID)
	}
	if WantsJSON(r) {
		err = WriteError(w, r, p.Status, ErrorBody{Code: p.Code, Message: p.In(ctx), Seats: []string{}, Nearest: []string{}, Fields: about, Request: number})
	} else {
		page := views.ErrorPage{
			Page: views.Page{Title: p.what(ctx), Nonce: Nonce(w), Legal: h.Legal(r, 0), Branding: h.Branding(r, 0)}, Status: p.Status, What: p.what(ctx), Holds: text.T(ctx, p.Holds), Next: text.T(ctx, p.Next), Number: number,
		}
		if !p.gone() || atDesk(r) {
			page.Back, page.Words = Onward(r)
		} else if p == errNoOrder {
			page.Back, page.Words = shop.AccountPath, text.Mark("Find your tickets")
		}
		err = WritePage(w, r.WithContext(ctx), p.Status, views.Error(page))
	}
	if err != nil {
		h.About(w, r).Error("an error page failed", "error", err)
	}
}

// unshared forbids caches to keep the answer of a public route.
func (h *Server) unshared(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	if cache := header.Get("Cache-Control"); cache == "" || strings.HasPrefix(cache, "public") {
		header["Cache-Control"], header["Vary"] = noStore, varyAccept
	}
	if header.Get(RequestID) == "" {
		header[RequestID] = []string{h.idOf(r)}
	}
}

type ErrorAnswer struct {
	Error ErrorBody `json:"error"`
}

type ErrorBody struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Seats   []string `json:"seats"`
	Nearest []string `json:"nearest"`
	Event   string   `json:"event,omitempty"` // slug of the event that refused, of a sale of several

	Fields map[string]string `json:"fields,omitempty"` // what is wrong, by field
	To     string            `json:"to,omitempty"`     // where to go instead: the waiting room

	Request string `json:"request,omitempty"` // the number of a request that failed by no fault of the caller
}

// AppendJSON writes what encoding/json would, only quicker: most of a crowd are refused by one. It leaves <, > and & as they are.
func (a *ErrorAnswer) AppendJSON(t []byte) []byte {
	e := &a.Error
	t = AppendText(append(t, `{"error":{"code":`...), e.Code)
	t = AppendText(append(t, `,"message":`...), e.Message)
	t = AppendTexts(append(t, `,"seats":`...), e.Seats)
	t = AppendTexts(append(t, `,"nearest":`...), e.Nearest)
	if e.Event != "" {
		t = AppendText(append(t, `,"event":`...), e.Event)
	}
	if len(e.Fields) > 0 {
		fields, _ := json.Marshal(e.Fields) // words always marshal
		t = append(append(t, `,"fields":`...), fields...)
	}
	if e.To != "" {
		t = AppendText(append(t, `,"to":`...), e.To)
	}
	if e.Request != "" {
		t = AppendText(append(t, `,"request":`...), e.Request)
	}
	return append(t, "}}\n"...)
}

// fields says which fields an error is about, if it is about some.
func fields(ctx context.Context, err error) map[string]string {
	about := map[string]string{}
	add := func(field, message string) { about[field] = strings.TrimSpace(about[field] + " " + message) } // a field may have several
	var mistakes orders.Mistakes
	if errors.As(err, &mistakes) {
		for _, m := range mistakes {
			add(m.Field, text.T(ctx, m.Message))
		}
	}
	var deskMistakes organizers.Mistakes
	if errors.As(err, &deskMistakes) {
		for _, m := range deskMistakes {
			add(m.Field, m.In(ctx))
		}
	}
	return about // left out if it is empty
}

// WriteRefusal answers a program after a refused claim, order or other change of seats.
func (h *Server) WriteRefusal(w http.ResponseWriter, r *http.Request, s *seats.Sale, refusal *seats.Conflict) error {
	noteError(r, refusal.Code, refusal.Message, nil)
	status, to := http.StatusConflict, ""
	if refusal.Code == seats.CodeWaitingRoom {
		if room := h.Rooms.Of(s.Event.ID); room != nil {
			status, to = http.StatusForbidden, h.At(r, "/rooms/"+room.Slug)
		}
	}
	return WriteError(w, r, status, ErrorBody{
		Code: refusal.Code, Message: refusal.In(h.Reading(r)), Seats: Labels(s, refusal.Seats), Nearest: Labels(s, refusal.Nearest), To: to,
	})
}

var ErrUnpaid = NewProblem(http.StatusTooManyRequests, "too_many", text.Mark("This email address has too many unpaid orders for this event."), SeatsStay, text.Mark("Pay or cancel one of them, or choose a way to pay now."))

var SeatsStay = text.Mark("Seats that you hold stay yours until the time you were shown.")

var WaitHolds = text.Mark("Offers stay open, and you keep your place.")

var ErrNoEntry = NewProblem(404, "unknown", text.Mark("There is no such place on a waiting list."), "", text.Mark("Open the link in the email about your order, or find your tickets with your email address."))

var ErrOver = NewProblem(410, "over", text.Mark("The sale of this event is over."), text.Mark("Orders that were placed stay valid."), text.Mark("See the other events."))

var PlaceHolds = text.Mark("If you have a place already, you keep it.")

var ErrNoRoom = NewProblem(404, "unknown", text.Mark("There is no such waiting room."), NothingChanged, text.Mark("Go to the list of events."))

var errOften = NewProblem(429, "too_often", text.Mark("That was tried too often."), text.Mark("Nothing was changed."), text.Mark("Try again in a quarter of an hour, or use a passkey."))

var ErrBusy = NewProblem(503, "busy", text.Mark("Too many people are signing in at the moment."), text.Mark("Nothing was changed."), text.Mark("Try again in a few seconds."))

// Often says after which time a try is taken again.
func Often(ctx context.Context, err error) *Problem {
	p := *errOften
	var o *organizers.Often
	if errors.As(err, &o) {
		p.Next = text.T(ctx, "Try again in %s, sign in on a device where you signed in before, or use a passkey.", views.LengthIn(ctx, atLeast(o.After)))
	}
	return &p
}

// atLeast is a wait that is not over too soon when it is said in whole seconds or minutes.
func atLeast(d time.Duration) time.Duration {
	unit := time.Second
	if d >= 2*time.Minute {
		unit = time.Minute
	}
	return (d + unit - 1).Truncate(unit)
}

// RetryLater says in a header after which time a try is taken again, if the desk refused it for now.
func RetryLater(w http.ResponseWriter, err error) {
	var o *organizers.Often
	switch {
	case errors.As(err, &o):
		w.Header().Set("Retry-After", strconv.Itoa(int((o.After+time.Second-1)/time.Second)))
	case errors.Is(err, organizers.ErrBusy):
		w.Header().Set("Retry-After", "3")
	}
}
