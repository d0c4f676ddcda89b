package handlers

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views"
)

// problem is an error as a person reads it: what happened, what still holds, what to do next.
type problem struct {
	status            int
	code              string
	what, holds, next string
}

func (p *problem) Error() string { return p.what }

const nothingChanged = "Nothing was changed; what you hold is still yours."

var (
	errNoPage    = &problem{404, "unknown", "There is no such page.", nothingChanged, "Start from the list of events."}
	errNoEvent   = &problem{404, "unknown", "There is no such event.", nothingChanged, "Start from the list of events."}
	errNoHold    = &problem{404, "no_hold", "You hold no seats of this event.", "The event and its free seats are there.", "Choose seats first."}
	errNoOrder   = &problem{404, "unknown", "There is no such order.", "An order that was confirmed holds.", "Take the address from the mail about it, letter by letter."}
	errEnded     = &problem{401, "session_ended", "Your visit has ended.", "Seats you held stay yours until the time you were shown, then they are free again.", "Open the event again and choose anew."}
	errMethod    = &problem{405, "method", "This address does not take that method.", nothingChanged, "The header Allow says which ones it takes."}
	errForeign   = &problem{403, "foreign", "This request came from another site.", nothingChanged, "Act from the event's own page."}
	errTooLarge  = &problem{413, "too_large", "The request is larger than 64 KiB.", nothingChanged, "Send less; no form here needs so much."}
	errMedia     = &problem{415, "media_type", "What is sent to this address is JSON or a form.", nothingChanged, "Send Content-Type: application/json."}
	errBroken    = &problem{503, "unavailable", "The box office cannot answer at the moment.", "Seats that you hold stay yours until the time you were shown.", "Try again in a few seconds, with the same Idempotency-Key."}
	errKey       = &problem{422, "invalid", "An Idempotency-Key has 1 to 200 printable characters.", nothingChanged, "A random UUID will do."}
	errHoldID    = &problem{422, "invalid", "An order names the id of its hold.", nothingChanged, "Take it from the hold's answer, and name its seats."}
	errSeatLabel = &problem{404, "unknown", "The event has no seat of that name.", nothingChanged, "Take the seats of your hold's answer."}
	errNoChoice  = &problem{422, "invalid", "No ticket was chosen.", "Your tickets hold.", "Select the tickets to cancel, then send the form again."}
	errNoKey     = &problem{422, "invalid", "The form has no key.", nothingChanged, "Load the page again; programs send a key of 1 to 200 characters."}
	errNoDoor    = &problem{404, "unknown", "This link opens no door.", "It was revoked, or a letter of it is missing.", "Ask the organizer for a new one."}
	errNoTicket  = &problem{404, "unknown", "There is no such ticket.", "Tickets that were not cancelled hold.", "Look at the order's page."}
	errSeatIndex = &problem{404, "unknown", "This event has no such seat.", nothingChanged, "Take the idx of your hold's answer."}
)

// tooOften says in the header when to try again, if a problem is that somebody came too often and nobody said it yet.
func (p *problem) tooOften(w http.ResponseWriter) {
	if p == errShare {
		w.Header().Set("Retry-After", "5")
	}
	if p.status != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "" {
		return
	}
	after := time.Hour // for mail, which is counted by the hour
	if p.code == errDeskOften.code && p.what == errDeskOften.what {
		after = organizers.TriesWithin
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(after/time.Second)))
}

func invalid(what string) *problem {
	return &problem{422, "invalid", what, nothingChanged, "Send seats, or an area and a quantity, or how many of the best seats."}
}

// known is the one table from errors to what people are told.
func known(err error) *problem {
	var p *problem
	var nonsense *seats.Nonsense
	var mistakes orders.Mistakes
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &nonsense) && nonsense.Unknown:
		return &problem{404, "unknown", nonsense.Message, "What you hold is still yours.", "Look at the event's seats."}
	case errors.As(err, &nonsense):
		return &problem{422, "invalid", nonsense.Message, "What you hold is still yours.", "Change the request and send it again."}
	case errors.As(err, &large):
		return errTooLarge
	case errors.As(err, &mistakes):
		return &problem{422, "invalid", mistakes.Error(), "Nothing was sold; what you hold is still yours.", "Change it and send it again."}
	case errors.Is(err, orders.ErrUnpaid):
		return errUnpaid
	case errors.Is(err, orders.ErrNoOrder), errors.Is(err, orders.ErrNoPayment):
		return errNoOrder
	case errors.Is(err, orders.ErrNoTicket):
		return errNoTicket
	case errors.Is(err, orders.ErrNoDoor):
		return errNoDoor
	case errors.Is(err, idempotency.ErrNoKey):
		return errNoKey
	case errors.Is(err, seats.ErrNoEvent):
		return errNoEvent
	case errors.Is(err, seats.ErrNoHold):
		return errNoHold
	case errors.Is(err, seats.ErrSessionEnded):
		return errEnded
	}
	if p := deskError(err); p != nil {
		return p
	}
	if p := waitError(err); p != nil {
		return p
	}
	if p := roomError(err); p != nil {
		return p
	}
	return unfit(err)
}

// answer runs a handler and says what went wrong.
func (h *Handlers) answer(next handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := next(w, r); err != nil {
			h.fail(w, r, err)
		}
	}
}

// fail answers with the words for an error; one that has none is told to the operator, and to the caller only that it
// was not their fault.
func (h *Handlers) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := known(err)
	if p == nil {
		if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
			return // the caller went away
		}
		h.about(w, r).Error("a request failed", "error", err)
		w.Header().Set("Retry-After", "3")
		p = errBroken
	}
	h.unshared(w, r)
	retryLater(w, err)
	p.tooOften(w)
	number := ""
	if p.status >= http.StatusInternalServerError {
		number = w.Header().Get(requestID)
	}
	if wantsJSON(r) {
		err = writeJSON(w, p.status, errorAnswer{errorBody{Code: p.code, Message: p.what + " " + p.holds + " " + p.next, Seats: []string{}, Nearest: []string{}, Fields: fields(err), Request: number}})
	} else {
		page := views.ErrorPage{
			Page: views.Page{Title: p.what, Nonce: nonce(w)}, Status: p.status, What: p.what, Holds: p.holds, Next: p.next, Number: number,
		}
		if !p.gone() || atDesk(r) {
			page.Back, page.Words = onward(r)
		}
		err = writePage(w, r, p.status, views.Error(page))
	}
	if err != nil {
		h.about(w, r).Error("an error page failed", "error", err)
	}
}

// unshared makes the answer of a public route one that nobody keeps.
func (h *Handlers) unshared(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	if cache := header.Get("Cache-Control"); cache == "" || strings.HasPrefix(cache, "public") {
		header["Cache-Control"], header["Vary"] = noStore, varyAccept
	}
	if header.Get(requestID) == "" {
		header[requestID] = []string{h.idOf(r)}
	}
}

type errorAnswer struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Seats   []string `json:"seats"`
	Nearest []string `json:"nearest"`

	Fields map[string]string `json:"fields,omitempty"` // what is wrong, by field
	To     string            `json:"to,omitempty"`     // where to go instead: the waiting room

	Request string `json:"request,omitempty"` // the number of a request that failed by no fault of the caller
}

// fields says which fields an error is about, if it is about some.
func fields(err error) map[string]string {
	about := map[string]string{}
	var mistakes orders.Mistakes
	if errors.As(err, &mistakes) {
		for _, m := range mistakes {
			about[m.Field] = m.Message
		}
	}
	var deskMistakes organizers.Mistakes
	if errors.As(err, &deskMistakes) {
		for _, m := range deskMistakes {
			about[m.Field] = m.Message
		}
	}
	return about // left out if it is empty
}
