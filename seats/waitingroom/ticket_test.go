package waitingroom_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
)

func TestAnotherKeySignsAtOnceOnAllNodesAndOneThatIsRevokedIsBelievedOnNone(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{OpensAt: in(time.Hour), Slots: 1000})
	nodes := []*node{h.node(t, true), h.node(t, true)}
	p := joinAll(t, nodes[0].room, 1)[0]
	knows := func(n *node) bool { return n.room.Look(t.Context(), p.holder, p.token).Place == p.place }
	signs := func(n *node) string { return joinAll(t, n.room, 1)[0].token[:4] } // version and key
	if !knows(nodes[1]) || signs(nodes[1]) != p.token[:4] {
		t.Fatal("the nodes have not the same key")
	}
	if err := h.c.NewKey(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for i, n := range nodes {
		eventually(t, fmt.Sprintf("node %d signs with the new key", i), func() bool { return signs(n) != p.token[:4] })
		if !knows(n) {
			t.Errorf("node %d does not know a place that the key before it signed", i)
		}
	}
	if err := h.c.NewKey(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	for i, n := range nodes {
		eventually(t, fmt.Sprintf("node %d believes the revoked key no more", i), func() bool { return !knows(n) })
	}
	if err := h.c.Open(t.Context(), "evening", nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the draw that a revoked key had sealed is made", func() bool { return nodes[1].room.State().Phase == waitingroom.PhaseOpen })
	if n := h.one(t, `SELECT count(*) FROM control WHERE what = 'key' AND who = 'test'`); n != 2 {
		t.Errorf("%d of 2 changes of the key were written down", n)
	}
}

func TestJoin_DoesNotWaitForKeyLookups(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{OpensAt: in(time.Hour)})
	n := h.node(t, false)
	p := joinAll(t, n.room, 1)[0]
	goOn := n.rooms.AskForKeys()
	defer goOn()
	seen := make(chan waitingroom.Visit, 1)
	go func() { seen <- n.room.Look(t.Context(), p.holder, p.token) }()
	select {
	case v := <-seen:
		if v.Place != p.place {
			t.Errorf("their place is %+v", v.Place)
		}
	case <-time.After(20 * time.Second):
		t.Error("a place is not known while the database is asked for a key")
	}
}

func TestRoomsComeToBeWhileOthersAreLookedFor(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 3})
	n := h.node(t, false)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 25 {
				slug := "room-" + seats.NewID().String()
				if _, err := h.db.Exec(t.Context(), `INSERT INTO room (slug, name, mode, phase, slots) VALUES ($1, 'Another', 'auto', 'through', 1)`, slug); err != nil {
					t.Error(err)
				}
				if _, err := n.rooms.Room(t.Context(), slug); err != nil {
					t.Errorf("room %d: %v", i, err)
				}
			}
		})
	}
	all.Wait()
}

func TestTokens_ExpireByTheClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{OpensAt: in(time.Hour), Entry: waitingroom.EntryEmail})
	n := h.node(t, false)
	invitation, err := n.room.Invitation(t.Context(), "ann@example.org")
	if err != nil {
		t.Fatal(err)
	}
	challenge, err := n.room.Challenge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	patient := &waitingroom.Proof{Challenge: challenge}
	for _, c := range []struct {
		ahead           time.Duration
		invited, proved error
	}{
		{0, nil, waitingroom.ErrPatience},
		{2 * time.Minute, nil, nil},
		{waitingroom.InvitationLength - 3*time.Minute, nil, waitingroom.ErrWork},
		{2 * time.Minute, waitingroom.ErrNoPlace, waitingroom.ErrWork},
	} {
		n.rooms.SetAhead(c.ahead)
		if err := n.room.Invited(t.Context(), invitation); !errors.Is(err, c.invited) {
			t.Errorf("%s later the invitation is worth %v, want %v", c.ahead, err, c.invited)
		}
		if err := n.room.Prove(t.Context(), patient); !errors.Is(err, c.proved) {
			t.Errorf("%s later the wait is worth %v, want %v", c.ahead, err, c.proved)
		}
	}
}

func TestTokens_OneAlteredBitIsNoPlace(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 5})
	n := h.node(t, false)
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	p := joinAll(t, n.room, 1)[0]
	h.calls(t, 1)
	n.read(t)
	token, err := base64.RawURLEncoding.DecodeString(p.token)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 * len(token) {
		forged := bytes.Clone(token)
		forged[i/8] ^= 1 << (i % 8)
		text := base64.RawURLEncoding.EncodeToString(forged)
		if v := n.room.Look(t.Context(), p.holder, text); v.Place != (waitingroom.Place{}) {
			t.Errorf("bit %d altered: the place is %+v", i, v.Place)
		}
		if v, err := n.room.Enter(t.Context(), p.holder, text); err != nil || v.Inside || v.Place != (waitingroom.Place{}) {
			t.Errorf("bit %d altered: %+v, %v", i, v, err)
		}
	}
	if !p.enter(t, n.room).Inside {
		t.Error("the token as it was given does not let its holder in: this test sees nothing")
	}
}
