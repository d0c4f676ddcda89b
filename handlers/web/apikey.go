package web

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Programs of a team work with a key that an owner made: at the desk as the member who made it, and in the shop for customers:
// kiosks, resellers, chatbots. Each customer is a visitor of their own, whose session the program keeps in the header Usher-Session,
// as scripts with a site key do. What holds for a visitor holds for each of them: limits per person, waiting rooms, codes, terms. What
// counts for a network, and its challenges, do not; in their place the key has a limit of its own.

// RequestsPerProgram is how many requests a program may send with one key within a minute, unless a node is told otherwise.
const RequestsPerProgram = 3000

var (
	errMayNotSell = NewProblem(http.StatusForbidden, "role", text.Mark("This key may not sell."), NothingChanged, text.Mark("An owner of the team makes another one at the desk, at API keys."))
	errOutside    = NewProblem(http.StatusForbidden, "role", text.Mark("This key sells the seats of its allocation, and nothing else."), NothingChanged, text.Mark("Ask the organizer for another key."))
	// ErrKeyTooFast is the answer to a program that sends too much with one key.
	ErrKeyTooFast = NewProblem(http.StatusTooManyRequests, "too_many", text.Mark("This key has sent too many requests in a short time."), NothingChanged, text.Mark("Wait for the seconds in Retry-After, then try again."))
)

// APIKey is the key that a program sends.
func APIKey(r *http.Request) (key string, sent bool) {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(key), strings.EqualFold(scheme, "Bearer")
}

// ByProgram reports whether a program acts for a customer of the shop.
func ByProgram(r *http.Request) bool { return ownOf(r).program }

// SoldBy is the name of the key with which a program acts for a customer of the shop; empty if none does.
func SoldBy(r *http.Request) string { return ownOf(r).soldBy }

// AllocationOf is the allocation to which the key of a program is tied; zero: to none.
func AllocationOf(r *http.Request) organizers.Allocation {
	if r.Header["Authorization"] == nil { // nearly all requests: contexts are slow to ask
		return organizers.Allocation{}
	}
	return ownOf(r).allocation
}

// partnerDoes are the requests that change something with the key of an allocation: customers hold its seats and order them. Addresses that no key
// opens do not know it.
var partnerDoes = map[string]bool{"POST /events/{slug}/claims": true, "POST /events/{slug}/hold/extension": true, "POST /events/{slug}/hold/types": true, "POST /events/{slug}/orders": true}

// outside reports whether a request is not about the allocation of a partner.
func outside(r *http.Request, of organizers.Allocation) bool {
	slug := r.PathValue("slug")
	event := strings.Contains(r.Pattern, "/events/{slug}")
	switch {
	case event && slug != of.Event:
		return true
	case r.Method == http.MethodGet, r.Method == http.MethodHead, r.Method == http.MethodDelete:
		return false
	}
	return !partnerDoes[r.Pattern]
}

// admitProgram says for which team a program sells, by which key, and what the key is tied to.
func (h *Server) admitProgram(w http.ResponseWriter, r *http.Request, key string, at *own) error {
	m, err := h.Organizers.ByKey(r.Context(), key, "", h.Client(r))
	NoteKey(r, m.Key)
	switch {
	case errors.Is(err, organizers.ErrKey):
		w.Header().Set("WWW-Authenticate", "Bearer")
		return err
	case err != nil:
		return err
	case h.Exhausted(w, m):
		return ErrKeyTooFast
	case !m.MaySellFor():
		h.Organizers.Report(organizers.SecurityEvent{Kind: organizers.RefusedByRole, Organizer: m.Organizer, Team: m.Team, Network: m.From.Network, Agent: m.From.Agent, Detail: r.Pattern})
		return errMayNotSell
	case Elsewhere(r, m.Team): // it came by the domain of another team
		return ErrNoPage
	case m.Allocation != (organizers.Allocation{}) && outside(r, m.Allocation):
		return errOutside
	}
	at.team, at.key, at.soldBy, at.test, at.allocation = m.Team, m.Key, m.KeyName, m.Test, m.Allocation
	return nil
}

// Exhausted counts a request with a key and reports whether it is one too many. The headers tell what is left, as
// draft-ietf-httpapi-ratelimit-headers-10 has them: a quota of q requests in w seconds, of which r are left, and all again in t seconds.
func (h *Server) Exhausted(w http.ResponseWriter, m organizers.Member) bool {
	if h.Requests.Burst == 0 {
		return false
	}
	key, now := limit.With(CountsKeys, uint64(m.Key)), time.Now()
	wait := h.Limits.Take(key, 1, h.Requests, now)
	left := h.Limits.Left(key, h.Requests, now)
	whole := time.Duration(h.Requests.Burst-left) * h.Requests.Every
	w.Header().Set("RateLimit-Policy", fmt.Sprintf(`"key";q=%d;w=60`, h.Requests.Burst))
	w.Header().Set("RateLimit", fmt.Sprintf(`"key";r=%d;t=%d`, left, (whole+time.Second-1)/time.Second))
	RetryAfter(w, wait)
	return wait > 0
}
