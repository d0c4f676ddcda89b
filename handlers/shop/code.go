package shop

import (
	"hash/maphash"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/shop"
)

// codeGuesses is how often a network, or a program with one key, may send a code that an event does not have.
var codeGuesses = limit.Per(20, time.Minute)

var codeSeed = maphash.MakeSeed()

var errGuesses = web.NewProblem(http.StatusTooManyRequests, "too_many", text.Mark("Too many codes were tried from your network."), web.SeatsStay, text.Mark("Wait a minute, then try again."))

// findCode looks a code up that a visitor sent, in a form or a cookie. If their network guesses codes it returns how long to wait
// instead. A code that the event has costs nothing.
func (h *Handlers) findCode(r *http.Request, s *seats.Sale, code string) (found pricing.Code, wait time.Duration, err error) {
	key, now := limit.With(web.GuesserOf(r), maphash.String(codeSeed, s.Event.Slug)), time.Now()
	if wait = h.Limits.Take(key, 1, codeGuesses, now); wait > 0 {
		return found, wait, nil
	}
	found, err = h.Orders.FindCode(r.Context(), s.Event.ID, code)
	if err == nil && found.State != pricing.CodeUnknown {
		h.Limits.Give(key, 1, codeGuesses)
	}
	return found, 0, err
}

// refuseGuesses is errGuesses, and sets Retry-After.
func refuseGuesses(w http.ResponseWriter, wait time.Duration) error {
	web.RetryAfter(w, wait)
	return errGuesses
}

// limitCodes refuses a network that guesses codes. It returns the code, nil if none was typed.
func (h *Handlers) limitCodes(w http.ResponseWriter, r *http.Request, s *seats.Sale, code string) (*pricing.Code, error) {
	if strings.TrimSpace(code) == "" {
		return nil, nil
	}
	found, wait, err := h.findCode(r, s, code)
	if wait > 0 {
		return nil, refuseGuesses(w, wait)
	}
	return &found, err
}

// mostEntered is how many codes of one event a visit remembers.
const mostEntered = 3

func codesName(s *seats.Sale) string { return "codes-" + strconv.FormatInt(s.Event.ID, 10) }

// entered returns the codes of an event that the visitor entered, the last one first. Their browser keeps them, and may send others:
// if their network guesses codes it returns how long to wait, and none.
func (h *Handlers) entered(r *http.Request, s *seats.Sale) (codes []pricing.Code, wait time.Duration, err error) {
	if of := web.AllocationOf(r); of.Code != "" { // the key of a partner has its code, and no other
		c, err := h.Orders.FindCode(r.Context(), s.Event.ID, of.Code)
		if err != nil || c.State == pricing.CodeUnknown {
			return nil, 0, err
		}
		return []pricing.Code{c}, 0, nil
	}
	sent := strings.SplitN(h.KeptCookie(r, codesName(s)), ".", mostEntered+1)
	for _, text := range sent[:min(len(sent), mostEntered)] {
		if text == "" {
			continue
		}
		c, wait, err := h.findCode(r, s, text)
		if err != nil || wait > 0 {
			return nil, wait, err
		}
		if c.State != pricing.CodeUnknown {
			codes = append(codes, c)
		}
	}
	return codes, 0, nil
}

// codesOf returns what a page needs to know of codes. While a network guesses codes, its pages show none.
func (h *Handlers) codesOf(r *http.Request, s *seats.Sale) (shop.Codes, error) {
	c, _, err := h.readCodes(r, s)
	return c, err
}

// readCodes is codesOf. It returns how long to wait if the network of the visitor guesses codes.
func (h *Handlers) readCodes(r *http.Request, s *seats.Sale) (c shop.Codes, wait time.Duration, err error) {
	partner := web.AllocationOf(r).Code != ""
	if c.Asks, c.Prices = s.Prices.HasCodes, s.Prices; r.Header["Cookie"] == nil && !partner {
		return c, 0, nil
	}
	if c.Entered, wait, err = h.entered(r, s); err == nil && len(c.Entered) > 0 {
		c.Access, err = h.Orders.Access(r.Context(), s.Event.ID, c.Entered)
	}
	if err == nil && partner {
		if c.Access == nil { // the code opens nothing any more
			c.Access = &seats.Access{}
		}
		c.Access.Only = true
	}
	return c, wait, err
}

// accessOf returns what the codes of a visitor unlock; nil for nothing.
func (h *Handlers) accessOf(w http.ResponseWriter, r *http.Request, s *seats.Sale) (*seats.Access, error) {
	if !s.Prices.Coded && web.AllocationOf(r).Code == "" {
		return nil, nil
	}
	c, wait, err := h.readCodes(r, s)
	if wait > 0 {
		return nil, refuseGuesses(w, wait)
	}
	return c.Access, err
}

var errAllocation = web.NewProblem(http.StatusConflict, seats.CodeReserved, text.Mark("An order with this key has seats of its allocation only."), web.SeatsStay, text.Mark("Name the seats that were claimed with this key, and no others."))

// withinAllocation refuses an order of seats that were not claimed with the code of the partner's key.
func (h *Handlers) withinAllocation(r *http.Request, s *seats.Sale, holder seats.ID, chosen []int) error {
	of := web.AllocationOf(r)
	if of.Code == "" {
		return nil
	}
	if web.IsForm(r) {
		return web.ErrMedia
	}
	code, err := h.Orders.FindCode(r.Context(), s.Event.ID, of.Code)
	if err != nil {
		return err
	}
	hold, err := s.Hold(r.Context(), holder)
	if err != nil {
		return err
	}
	own := map[int]bool{}
	for _, l := range hold.Lines {
		own[l.Seat] = l.Code == code.ID && l.Block != (seats.ID{})
	}
	if len(chosen) == 0 || slices.ContainsFunc(chosen, func(idx int) bool { return !own[idx] }) {
		return errAllocation
	}
	return nil
}

// remember has the browser of a visitor keep a code for the visit, or forget codes.
func (h *Handlers) remember(w http.ResponseWriter, r *http.Request, s *seats.Sale, code string, forget func(pricing.Code) bool) error {
	before, wait, err := h.entered(r, s)
	if err != nil {
		return err
	}
	if wait > 0 {
		return refuseGuesses(w, wait)
	}
	var keep []string
	if code != "" {
		keep = append(keep, code)
	}
	for _, c := range before {
		if c.Code != code && !forget(c) && len(keep) < mostEntered {
			keep = append(keep, c.Code)
		}
	}
	h.KeepCookie(w, codesName(s), strings.Join(keep, "."))
	return nil
}

func none(pricing.Code) bool { return false }

// enteredCode is a code as programs send it, and forms with the same names.
type enteredCode struct {
	Code   string `json:"code"`
	Remove string `json:"remove"`
}

func decodeCode(r *http.Request) (c enteredCode, err error) {
	switch {
	case web.IsForm(r):
		if err := web.ParseForm(r); err != nil {
			return c, err
		}
		return enteredCode{r.PostForm.Get("code"), r.PostForm.Get("remove")}, nil
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return c, err
		}
		return c, web.DecodeJSON(body, &c)
	}
	return c, web.ErrMedia
}

type codeAnswer struct {
	Code    string   `json:"code"`
	Does    string   `json:"does"`    // in words
	Types   []string `json:"types"`   // keys of ticket types that it unlocks
	Seats   []string `json:"seats"`   // reserved seats that it unlocks
	Presale bool     `json:"presale"` // seats may be claimed before the event is on sale
	Percent int      `json:"percent"` // off, in hundredths of a percent
	Amount  int64    `json:"amount"`  // off, minor units
}

// EnterCode answers POST /events/{slug}/codes: the code counts for the visit.
func (h *Handlers) EnterCode(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	typed, err := decodeCode(r)
	if err != nil {
		return err
	}
	if typed.Remove != "" {
		err := h.remember(w, r, s, "", func(c pricing.Code) bool { return c.Code == pricing.SpellCode(typed.Remove) })
		return h.codeDone(w, r, s, err, http.StatusNoContent, nil)
	}
	if _, err := h.limitCodes(w, r, s, typed.Code); err != nil {
		return err
	}
	found, err := h.Orders.FindCode(r.Context(), s.Event.ID, typed.Code)
	if err != nil {
		return err
	}
	if wrong := found.State.Message(); wrong != "" {
		if web.WantsJSON(r) {
			return &seats.ValidationError{Message: wrong}
		}
		return h.showWith(w, r, s, http.StatusUnprocessableEntity, func(c *shop.Codes) { c.Typed, c.Wrong = typed.Code, wrong })
	}
	access, err := h.Orders.Access(r.Context(), s.Event.ID, []pricing.Code{found})
	if err == nil {
		err = h.remember(w, r, s, found.Code, none)
	}
	a := codeAnswer{Code: found.Code, Does: shop.CodeDoes(h.Reading(r), s, found), Types: []string{}, Seats: []string{}, Presale: found.Presale, Percent: found.Percent, Amount: found.Amount}
	for _, kind := range found.UnlocksTypes {
		a.Types = append(a.Types, s.Prices.Types[kind].Key)
	}
	if access != nil {
		a.Seats = web.Labels(s, access.Seats)
	}
	return h.codeDone(w, r, s, err, http.StatusOK, a)
}

// codeDone answers a form with a code by the page that it came from, and a program by JSON.
func (h *Handlers) codeDone(w http.ResponseWriter, r *http.Request, s *seats.Sale, err error, status int, answer any) error {
	switch {
	case err != nil:
		return err
	case !web.WantsJSON(r):
		http.Redirect(w, r, comeFrom(r, s)+"#codes", http.StatusSeeOther)
		return nil
	case answer == nil:
		w.WriteHeader(status)
		return nil
	}
	return web.WriteJSON(w, status, answer)
}

// applyCode shows the checkout with what a code saves, or why it does not, and with everything that was typed.
func (h *Handlers) applyCode(w http.ResponseWriter, r *http.Request, s *seats.Sale, holder seats.ID, form orders.Form) error {
	if _, err := h.limitCodes(w, r, s, form.Code); err != nil {
		return err
	}
	found, err := h.Orders.FindCode(r.Context(), s.Event.ID, form.Code)
	if err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(form.Code) == "":
		err = h.remember(w, r, s, "", pricing.Code.TakesOff)
	case found.State == pricing.CodeGood:
		err = h.remember(w, r, s, found.Code, none)
	}
	if err != nil {
		return err
	}
	return h.tell(w, r, s, holder, orders.Typed{Form: form})
}

// showCode finds what the code takes off that was typed, or else the last one that was entered before.
func (h *Handlers) showCode(r *http.Request, s *seats.Sale, p *shop.CheckoutPage) (err error) {
	if p.Codes, err = h.codesOf(r, s); err != nil {
		return err
	}
	p.LimitEarly(p.Codes)
	if p.Form.Code == "" {
		p.Form.Code, _ = p.Codes.Discount()
	}
	if p.HasCodes, err = h.Orders.HasCodes(r.Context(), s.Event.ID); err != nil || strings.TrimSpace(p.Form.Code) == "" {
		return err
	}
	found, err := h.Orders.FindCode(r.Context(), s.Event.ID, p.Form.Code)
	if err != nil {
		return err
	}
	if wrong := found.State.Message(); wrong != "" {
		if p.Mistakes.About(orders.FieldCode) == "" {
			p.Mistakes = append(p.Mistakes, orders.Mistake{Field: orders.FieldCode, Message: wrong})
		}
		return nil
	}
	if p.Code = found.Code; found.TakesOff() {
		p.Discount = &found.Discount
	} else {
		p.Unlocked = shop.CodeDoes(r.Context(), s, found)
	}
	return nil
}
