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

// admitProgram returns the team for which a program sells, the name of its key, and whether that is for test sales.
func (h *Server) admitProgram(w http.ResponseWriter, r *http.Request, key string) (team int64, name string, test bool, err error) {
	m, err := h.Organizers.ByKey(r.Context(), key, "", h.Client(r))
	NoteKey(r, m.Key)
	switch {
	case errors.Is(err, organizers.ErrKey):
		w.Header().Set("WWW-Authenticate", "Bearer")
		return 0, "", false, err
	case err != nil:
		return 0, "", false, err
	case h.Exhausted(w, m):
		return 0, "", false, ErrKeyTooFast
	case !m.May(organizers.Sell):
		h.Organizers.Report(organizers.SecurityEvent{Kind: organizers.RefusedByRole, Organizer: m.Organizer, Team: m.Team, Network: m.From.Network, Agent: m.From.Agent, Detail: r.Pattern})
		return 0, "", false, errMayNotSell
	case Elsewhere(r, m.Team): // it came by the domain of another team
		return 0, "", false, ErrNoPage
	}
	return m.Team, m.KeyName, m.Test, nil
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
