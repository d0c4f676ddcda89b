package orders_test

import (
	"encoding/base32"
	"errors"
	"testing"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
)

func TestATicketsCodeIsBelievedOnlyWithEveryBitAsItWasWritten(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	ticket := h.ordered(t, 1).Tickets[0]
	found, event, err := h.orders.Check(t.Context(), ticket.Code)
	if err != nil || found.ID != ticket.ID || found.Idx != ticket.Idx || event != "evening" || found.Revoked {
		t.Fatalf("the code gives %+v of %q, %v", found, event, err)
	}
	refused := func(what, code string) {
		if _, _, err := h.orders.Check(t.Context(), code); !errors.Is(err, orders.ErrNoTicket) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	text := []byte(ticket.Code)
	for bit := range 8 * len(text) {
		text[bit/8] ^= 1 << (bit % 8)
		refused("a bit of the text", string(text))
		text[bit/8] ^= 1 << (bit % 8)
	}
	alphabet := base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)
	raw, err := alphabet.DecodeString(ticket.Code)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(raw) {
		raw[bit/8] ^= 1 << (bit % 8)
		refused("a bit of what is signed", alphabet.EncodeToString(raw))
		raw[bit/8] ^= 1 << (bit % 8)
	}
	for _, code := range []string{"", ticket.Code + "0", ticket.Code[1:], ticket.Code + ticket.Code, " " + ticket.Code} {
		refused("another length", code)
	}
}

func TestARevokedTicketSaysSoAndARevokedKeySignsNothing(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	order := h.ordered(t, 2)
	h.exec(t, `UPDATE ticket SET revoked_at = now() WHERE id = $1`, order.Tickets[0].ID)
	if found, _, err := h.orders.Check(t.Context(), order.Tickets[0].Code); err != nil || !found.Revoked {
		t.Errorf("a revoked ticket is %+v, %v", found, err)
	}
	if err := h.orders.NewKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	old := order.Tickets[1].Code
	if _, _, err := h.orders.Check(t.Context(), old); err != nil {
		t.Errorf("a code of the key before got %v", err)
	}
	if err := h.orders.RevokeKey(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.orders.Check(t.Context(), old); !errors.Is(err, orders.ErrNoTicket) {
		t.Errorf("a code of a revoked key got %v", err)
	}
	again, err := h.orders.Find(t.Context(), order.Code)
	if err != nil || again.Tickets[0].Code != "" || again.Tickets[1].Code == old {
		t.Fatalf("the order shows %+v, %v", again.Tickets, err)
	}
	if _, _, err := h.orders.Check(t.Context(), again.Tickets[1].Code); err != nil {
		t.Errorf("a code of the new key got %v", err)
	}
}
