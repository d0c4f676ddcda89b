package desk

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// blockBody is a block for programs.
type blockBody struct {
	ID     seats.ID        `json:"id"`
	Kind   seats.BlockKind `json:"kind"`
	Owner  string          `json:"owner"`
	Reason string          `json:"reason"`
	EndsAt *time.Time      `json:"ends_at"` // null: until the seats are unblocked
	MadeAt time.Time       `json:"made_at"`
	Seats  int             `json:"seats"`  // that it still has
	Of     int             `json:"of"`     // when it was made
	Held   int             `json:"held"`   // by people with a code
	Sold   int             `json:"sold"`   // to people with a code
	Guests int             `json:"guests"` // that guests got
	Codes  int             `json:"codes"`  // that unlock it
}

func describeBlock(b blocks.Block) blockBody {
	body := blockBody{b.ID, b.Kind, b.Owner, b.Reason, nil, b.At.UTC(), b.Blocked, b.Made, b.Held, b.Sold, b.Guests, b.Codes}
	if !b.EndsAt.IsZero() {
		ends := b.EndsAt.UTC()
		body.EndsAt = &ends
	}
	return body
}

// ListBlocks answers GET /desk/events/{slug}/blocks
func (h *Handlers) ListBlocks(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.showBlocks(w, r, m, s, http.StatusOK, desk.BlocksPage{})
}

func (h *Handlers) showBlocks(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, p desk.BlocksPage) (err error) {
	if p.List, err = h.Blocks.List(r.Context(), m, s.Event.ID); err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		p.Frame = h.eventFrame(w, r, m, s, text.T(r.Context(), "Blocks"))
		p.Path = desk.SeatsPath(s.Event.Slug)
		return web.WritePage(w, r, status, desk.Blocks(p))
	}
	answer := struct {
		Blocks []blockBody `json:"blocks"`
	}{[]blockBody{}}
	for _, b := range p.List {
		answer.Blocks = append(answer.Blocks, describeBlock(b))
	}
	return web.WriteJSON(w, status, answer)
}

// blockTerms reads the terms of a block.
func blockTerms(s *seats.Sale, form url.Values) (t seats.BlockTerms, err error) {
	f := fieldReader{form: form, sale: s}
	t = seats.BlockTerms{Kind: seats.BlockKind(f.text("kind")), Owner: f.text("owner"), Reason: f.text("reason")}
	if ends := f.moment("ends_at"); ends != nil {
		t.EndsAt = *ends
	}
	return t, f.err
}

// ChangeBlock answers POST /desk/events/{slug}/blocks/{block}
func (h *Handlers) ChangeBlock(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	block, err := seats.ParseID(r.PathValue("block"))
	if err != nil {
		return seats.ErrNoBlock
	}
	terms, err := blockTerms(s, form)
	if err == nil {
		err = h.Blocks.Change(r.Context(), m, deskKeyOf(r, form), s.Event, block, terms)
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showBlocks(w, r, m, s, deskStatus(err), desk.BlocksPage{Form: form, Changed: block, Message: words})
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	return deskDone(w, r, desk.BlocksPath(s.Event.Slug), "set")
}

// Block answers POST /desk/events/{slug}/blocks
func (h *Handlers) Block(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.changeSeats(w, r, m, s, text.Mark("blocked seats"), "blocked", s.Block)
}

// Unblock answers POST /desk/events/{slug}/unblocks
func (h *Handlers) Unblock(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.changeSeats(w, r, m, s, text.Mark("unblocked seats"), "unblocked", s.Unblock)
}

// changeSeats blocks or unblocks the seats of a form.
func (h *Handlers) changeSeats(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, what, done string, change func(context.Context, seats.BlockRequest) ([]int, error)) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	var changed []int
	k := seats.BlockRequest{Rest: form.Get("rest") != ""}
	if k.Seats, err = chosen(s, form); err == nil {
		k.BlockTerms, err = blockTerms(s, form)
	}
	asked := []any{what, s.Event.Slug, k.Seats, k.BlockTerms, k.Rest, form.Get("block")}
	if written := form.Get("block"); err == nil && written != "" { // all seats that a block still has
		if k.Of, err = seats.ParseID(written); err != nil {
			return seats.ErrNoBlock
		}
		if k.Seats, err = h.Blocks.Seats(r.Context(), m, s.Event.ID, k.Of); err != nil {
			return err
		}
		k.Rest = true
	}
	if err == nil {
		act := organizers.Action{
			Key: deskKeyOf(r, form), Form: asked, What: what, Subject: "events/" + s.Event.Slug + "/seats",
			Detail: map[string]any{"seats": web.Labels(s, k.Seats[:min(len(k.Seats), 200)]), "how_many": len(k.Seats), "reason": k.Reason},
		}
		err = h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) (err error) {
			k.Also = also
			changed, err = change(r.Context(), k)
			return err
		})
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showSeats(w, r, m, s, deskStatus(err), desk.SeatsPage{Form: form, Message: words})
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	if !k.EndsAt.IsZero() {
		h.Blocks.Made()
	}
	back := desk.SeatsPath(s.Event.Slug) + sectionQuery(form)
	if k.Of != (seats.ID{}) {
		back = desk.BlocksPath(s.Event.Slug)
	}
	return deskWith(w, r, back, done, http.StatusOK, map[string]any{"seats": web.Labels(s, changed)})
}
