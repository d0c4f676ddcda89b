package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/views/shop"
)

// POST /events/{slug}/claims
func (h *Handlers) claim(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	wish, key, err := decodeClaim(r)
	if err != nil {
		return err
	}
	holder, known := h.holder(r)
	if !known {
		holder = h.newHolder(w, r, s)
	}
	admitted, err := h.admitClaim(w, r, s, holder, known, wishSize(&wish))
	if err != nil {
		if errors.Is(err, errChallenge) {
			return h.challenged(w, r, s, comeFrom(r, s))
		}
		return err
	}
	welcome := func(http.ResponseWriter) string { return "" }
	if !known { // only now: a session with a holder could claim elsewhere
		if welcome, err = h.newSession(r, holder); err != nil {
			admitted.undo()
			return err
		}
	}
	hold, err := h.claimAdmitted(w, r, s, holder, key, wish, admitted)
	if refusal, is := errors.AsType[*seats.Refusal](err); is {
		return h.refuse(w, r, s, refusal)
	}
	if err != nil {
		return err
	}
	h.tellNewcomer(r, s, welcome(w), hold)
	return h.answerHold(w, r, s, hold, http.StatusCreated)
}

// claimAdmitted claims seats for a visitor whom admitClaim admitted, and undoes that if they do not get them.
func (h *Handlers) claimAdmitted(w http.ResponseWriter, r *http.Request, s *seats.Sale, holder seats.ID, key string, wish seats.Wish, admitted admission) (hold seats.Hold, err error) {
	if room := h.gate.Of(s.Event.ID); room != nil { // the claim itself refuses who was not let in
		if _, err := h.enter(w, r, room, holder); err != nil {
			admitted.undo()
			return hold, err
		}
	}
	began := time.Now()
	hold, err = s.Claim(r.Context(), holder, key, wish)
	h.gate.Answered(time.Since(began), err)
	if err != nil {
		admitted.undo()
		if refusal, is := errors.AsType[*seats.Refusal](err); is {
			h.sales.Refused(s.Event.ID, refusal.Code)
		}
		return hold, err
	}
	admitted.event.Granted(holder, admitted.network, len(hold.Seats))
	return hold, nil
}

func wishSize(w *seats.Wish) int { return max(len(w.Seats), w.Quantity, w.Best) }

// refuse says why not: as JSON, or on the page again.
func (h *Handlers) refuse(w http.ResponseWriter, r *http.Request, s *seats.Sale, refusal *seats.Refusal) error {
	status, to := http.StatusConflict, ""
	if room := h.gate.Of(s.Event.ID); refusal.Code == seats.CodeWaitingRoom && room != nil {
		status, to = http.StatusForbidden, shop.RoomPath(room.Slug)
		if !wantsJSON(r) {
			http.Redirect(w, r, to, http.StatusSeeOther)
			return nil
		}
	}
	if wantsJSON(r) {
		return writeJSON(w, status, errorAnswer{errorBody{
			Code: refusal.Code, Message: refusal.Message, Seats: labels(s, refusal.Seats), Nearest: labels(s, refusal.Nearest), To: to,
		}})
	}
	message := &shop.Message{Text: refusal.Message, Nearest: refusal.Nearest}
	return h.showFrom(w, r, s, status, message)
}

func labels(s *seats.Sale, idxs []int) []string {
	names := make([]string, len(idxs))
	for i, idx := range idxs {
		names[i] = s.Plan.Label(idx)
	}
	return names
}

// decodeClaim reads a wish and its key from JSON or a form, strictly: what is not understood is refused.
func decodeClaim(r *http.Request) (seats.Wish, string, error) {
	var wish seats.Wish
	var err error
	switch {
	case isForm(r):
		if wish, err = decodeForm(r); err != nil {
			return seats.Wish{}, "", err
		}
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return seats.Wish{}, "", err
		}
		if wish, err = decodeWish(body); err != nil {
			return seats.Wish{}, "", err
		}
	default:
		return seats.Wish{}, "", errMedia
	}
	key, err := keyOf(r)
	return wish, key, err
}

// keyOf is what a repeat is known by: of programs a header, of forms a field; empty if there is none.
func keyOf(r *http.Request) (string, error) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" && isForm(r) {
		if err := parseForm(r); err != nil {
			return "", err
		}
		key = r.PostForm.Get("key")
	}
	return key, wrongKey(key)
}

func wrongKey(key string) error {
	if len(key) > 200 || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
		return errKey
	}
	return nil
}

// decodeWish reads the JSON of a claim.
func decodeWish(body []byte) (wish seats.Wish, err error) {
	return wish, decodeJSON(body, &wish)
}

// decodeJSON reads one JSON value strictly: what is not understood is refused.
func decodeJSON(body []byte, to any) error {
	if !utf8.Valid(body) {
		return invalid("The request is not valid UTF-8.")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return invalid("The request cannot be read: " + strings.TrimPrefix(err.Error(), "json: ") + ".")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return invalid("Something follows it.")
	}
	return nil
}

func decodeForm(r *http.Request) (wish seats.Wish, err error) {
	if err := parseForm(r); err != nil {
		return wish, err
	}
	f := r.PostForm
	wish.Seats, wish.Area = f["seat"], f.Get("area")
	if wish.Quantity, err = wholeNumber(f, "quantity"); err != nil {
		return wish, err
	}
	if wish.Best, err = wholeNumber(f, "best"); err != nil {
		return wish, err
	}
	if wish.Best != 0 {
		wish.Category = f.Get("category")
	}
	return wish, nil
}

// wholeNumber is what a field of a form says; 0 if it says nothing.
func wholeNumber(form url.Values, field string) (int, error) {
	text := form.Get(field)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, invalid("How many you want is not a whole number.")
	}
	return n, nil
}

// readForm is what ParseForm does, only quicker for the usual form: a crowd sends one each.
func readForm(r *http.Request) error {
	usual := r.Method == http.MethodPost && r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" && r.URL.RawQuery == "" && 0 <= r.ContentLength && r.ContentLength <= bodyLimit
	if r.PostForm != nil || !usual {
		return r.ParseForm()
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.PostForm, err = url.ParseQuery(string(text))
	r.Form = r.PostForm
	return err
}

// parseForm reads a form whose values are texts.
func parseForm(r *http.Request) error {
	if err := readForm(r); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return err
		}
		return invalid("The form cannot be read.")
	}
	for _, values := range r.PostForm {
		for _, v := range values {
			if !utf8.ValidString(v) {
				return invalid("The form is not valid UTF-8.")
			}
		}
	}
	return nil
}
