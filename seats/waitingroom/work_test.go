package waitingroom_test

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
)

var updateWork = flag.Bool("update-work", false, "write testdata/work.json anew")

// try is what one counter gives.
func try(t testing.TB, p *waitingroom.Parameters, counter uint32) waitingroom.Hex {
	t.Helper()
	key, err := pbkdf2.Key(sha256.New, string(binary.BigEndian.AppendUint32(bytes.Clone(p.Nonce), counter)), p.Salt, p.Cost, 32)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// solve works as a browser does, in the plainest way.
func solve(t testing.TB, c waitingroom.Challenge) *waitingroom.Proof {
	t.Helper()
	for counter := range uint32(1 << 20) {
		key := try(t, &c.Parameters, counter)
		if strings.HasPrefix(hex.EncodeToString(key), c.Parameters.KeyPrefix) {
			return &waitingroom.Proof{Challenge: c, Solution: &waitingroom.Solution{Counter: counter, Key: key}}
		}
	}
	t.Fatal("there is no solution")
	return nil
}

// worked is a proof of work that was done for a room.
func worked(t testing.TB, r *waitingroom.Room) *waitingroom.Proof {
	t.Helper()
	c, err := r.Challenge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return solve(t, c)
}

// joinsBy joins as the handlers do: the proof first, then the place.
func joinsBy(t testing.TB, r *waitingroom.Room, holder seats.ID, token string, proof *waitingroom.Proof) (waitingroom.Place, string) {
	t.Helper()
	if err := r.Prove(t.Context(), proof); err != nil {
		t.Fatal(err)
	}
	place, token, err := r.JoinBy(t.Context(), holder, token, proof)
	if err != nil {
		t.Fatal(err)
	}
	return place, token
}

func TestWork_GivesOnePlace(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{OpensAt: in(time.Hour), Work: 1})
	nodes := []*node{h.node(t, false), h.node(t, false), h.node(t, false)}
	if p, _, err := nodes[0].room.Join(t.Context(), seats.NewID(), ""); !errors.Is(err, waitingroom.ErrWork) {
		t.Fatalf("without work there is place %+v, %v", p, err)
	}
	proof := worked(t, nodes[0].room)
	var all sync.WaitGroup
	places := make([]waitingroom.Place, 30)
	for i := range places {
		all.Go(func() { places[i], _ = joinsBy(t, nodes[i%3].room, seats.NewID(), "", proof) })
	}
	all.Wait()
	for _, p := range places {
		if p != places[0] {
			t.Fatalf("one proof gave place %+v and %+v", places[0], p)
		}
	}
	holder := seats.NewID()
	first, token := joinsBy(t, nodes[0].room, holder, "", worked(t, nodes[0].room))
	if again, _ := joinsBy(t, nodes[1].room, holder, token, worked(t, nodes[1].room)); again != first || first == places[0] {
		t.Errorf("a visitor who has place %+v works again and has %+v", first, again)
	}
	if again, _, err := nodes[2].room.Join(t.Context(), holder, token); err != nil || again != first {
		t.Errorf("who has a place is asked for work: %+v, %v", again, err)
	}
	if n := h.one(t, `SELECT lobby FROM room`); n != 2 {
		t.Errorf("two proofs gave %d places", n)
	}
	rules := h.evidence(t)
	if rules.Worked != 2 || rules.Patient != 0 || rules.Work != 1 {
		t.Errorf("the evidence says %+v", rules)
	}
}

// evidence is what the export says of the room itself.
func (h *fixture) evidence(t testing.TB) (rules *waitingroom.Rules) {
	t.Helper()
	err := h.c.Evidence(t.Context(), "evening", false, func(e waitingroom.Evidence) error {
		if e.Room != nil {
			rules = e.Room
		}
		return nil
	})
	if err != nil || rules == nil {
		t.Fatal(rules, err)
	}
	return rules
}

func TestWork_InvalidProofIsRefused(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{OpensAt: in(time.Hour), Work: 2})
	n := h.node(t, false)
	now := time.Now()
	good := worked(t, n.room)
	signed := func(change func(*waitingroom.Parameters)) *waitingroom.Proof {
		c, err := n.rooms.SignedAgain(t.Context(), good.Challenge, change)
		if err != nil {
			t.Fatal(err)
		}
		return solve(t, c)
	}
	changed := func(change func(*waitingroom.Proof)) *waitingroom.Proof {
		p := *good
		s := *p.Solution
		p.Solution = &s
		change(&p)
		return &p
	}
	waited := &waitingroom.Proof{Challenge: good.Challenge}
	lazy := changed(func(p *waitingroom.Proof) {
		p.Solution.Counter++
		p.Solution.Key = try(t, &p.Challenge.Parameters, p.Solution.Counter)
	})
	for name, c := range map[string]struct {
		proof *waitingroom.Proof
		at    time.Duration
		want  error
	}{
		"what was asked for":            {good, 0, nil},
		"the same, just in time":        {good, 9 * time.Minute, nil},
		"the same, too late":            {good, 11 * time.Minute, waitingroom.ErrWork},
		"another counter":               {changed(func(p *waitingroom.Proof) { p.Solution.Counter++ }), 0, waitingroom.ErrWork},
		"a try that found nothing":      {lazy, 0, waitingroom.ErrWork},
		"another key":                   {changed(func(p *waitingroom.Proof) { p.Solution.Key = make(waitingroom.Hex, 32) }), 0, waitingroom.ErrWork},
		"no key":                        {changed(func(p *waitingroom.Proof) { p.Solution.Key = nil }), 0, waitingroom.ErrWork},
		"a prefix that anything has":    {changed(func(p *waitingroom.Proof) { p.Challenge.Parameters.KeyPrefix = "" }), 0, waitingroom.ErrWork},
		"fewer rounds":                  {changed(func(p *waitingroom.Proof) { p.Challenge.Parameters.Cost = 1 }), 0, waitingroom.ErrWork},
		"a later end":                   {changed(func(p *waitingroom.Proof) { p.Challenge.Parameters.ExpiresAt += 3600 }), 0, waitingroom.ErrWork},
		"another nonce":                 {changed(func(p *waitingroom.Proof) { p.Challenge.Parameters.Nonce = make(waitingroom.Hex, 16) }), 0, waitingroom.ErrWork},
		"no signature":                  {changed(func(p *waitingroom.Proof) { p.Challenge.Signature = nil }), 0, waitingroom.ErrWork},
		"nothing":                       {&waitingroom.Proof{}, 0, waitingroom.ErrWork},
		"of a time when less was asked": {signed(func(p *waitingroom.Parameters) { p.Cost = 1 }), 0, waitingroom.ErrWork},
		"of another room":               {signed(func(p *waitingroom.Parameters) { p.Salt = bytes.Clone(p.Salt); p.Salt[9]++ }), 0, waitingroom.ErrWork},
		"of an epoch that is over":      {signed(func(p *waitingroom.Parameters) { p.Salt = bytes.Clone(p.Salt); p.Salt[13]-- }), 0, waitingroom.ErrWork},
		"signed with an unknown key":    {signed(func(p *waitingroom.Parameters) { p.Salt = bytes.Clone(p.Salt); p.Salt[0]++ }), 0, waitingroom.ErrWork},
		"no work, at once":              {waited, 0, waitingroom.ErrPatience},
		"no work, after half a minute":  {waited, 30 * time.Second, waitingroom.ErrPatience},
		"no work, after a minute":       {waited, 62 * time.Second, nil},
		"no work, after too long":       {waited, 11 * time.Minute, waitingroom.ErrWork},
	} {
		if err := n.room.ProveAt(t.Context(), c.proof, now.Add(c.at)); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for _, text := range []string{"", "a", "e30", base64.StdEncoding.EncodeToString([]byte("[]")), base64.StdEncoding.EncodeToString(make([]byte, 3000))} {
		if p, err := waitingroom.ReadProof(text); !errors.Is(err, waitingroom.ErrWork) {
			t.Errorf("%q is read as %+v, %v", text, p, err)
		}
	}
	if p, err := waitingroom.ReadProof(good.String()); err != nil || n.room.Prove(t.Context(), p) != nil {
		t.Errorf("a good one is not itself after it was written and read: %+v, %v", p, err)
	}
}

func TestWork_IsAskedOfNewVisitorsWhileOthersWait(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 1, Work: 1})
	n := h.node(t, true)
	ann, bob := &person{holder: seats.NewID()}, &person{holder: seats.NewID()}
	if v := ann.enter(t, n.room); !v.Inside {
		t.Fatalf("in a room that lets everyone through a visitor got %+v", v)
	}
	if v := bob.enter(t, n.room); v.Inside || v.Place == (waitingroom.Place{}) {
		t.Fatalf("the second one of one slot got %+v", v)
	}
	eventually(t, "the node knows that people wait", func() bool { s := n.room.State(); return s.AsksWork() })
	if _, _, err := n.room.Join(t.Context(), seats.NewID(), ""); !errors.Is(err, waitingroom.ErrWork) {
		t.Errorf("people wait, and a new visitor joins without work: %v", err)
	}
	if err := h.c.Work(t.Context(), "evening", 0); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no work is asked for any more", func() bool { s := n.room.State(); return !s.AsksWork() })
	if _, _, err := n.room.Join(t.Context(), seats.NewID(), ""); err != nil {
		t.Error(err)
	}
	var nonsense *seats.ValidationError
	if err := h.c.Work(t.Context(), "evening", 100_001); !errors.As(err, &nonsense) {
		t.Errorf("too many rounds: %v", err)
	}
	if _, err := h.c.Create(t.Context(), waitingroom.NewRoom{Name: "Two", Work: 1, Entry: waitingroom.EntryEmail}); !errors.As(err, &nonsense) {
		t.Errorf("work of people who were invited: %v", err)
	}
}

func TestWork_WithoutScriptsAVisitorWaitsInstead(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{OpensAt: in(time.Hour), Work: 1})
	n := h.node(t, false)
	c, err := n.room.ChallengeAt(t.Context(), time.Now().Add(-2*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := joinsBy(t, n.room, seats.NewID(), "", &waitingroom.Proof{Challenge: c}); p.Index != 1 {
		t.Errorf("who waited has place %+v", p)
	}
	n.room.NotWorked()
	if err := n.room.CountAt(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if rules := h.evidence(t); rules.Patient != 1 || rules.Worked != 0 {
		t.Errorf("the evidence says %+v", rules)
	}
	if got := h.one(t, `SELECT count(*) FROM control WHERE what = 'limit' AND detail LIKE '1 joins were refused for an invalid proof%'`); got != 1 {
		t.Errorf("%d notes are there of one who was told to work first", got)
	}
}

// The browser's solver is held to this file in static/work.test.mjs.
func TestWorkIsTheGoldenOne(t *testing.T) {
	t.Parallel()
	var list []*waitingroom.Proof
	for seed := 0; len(list) < 3; seed++ {
		nonce := sha256.Sum256(fmt.Append(nil, "nonce ", seed))
		p := solve(t, waitingroom.Challenge{Parameters: waitingroom.Parameters{
			Algorithm: "PBKDF2/SHA-256", Cost: 1 + len(list), ExpiresAt: 1900000000, KeyLength: 32, KeyPrefix: "000", Nonce: nonce[:16], Salt: nonce[16:30],
		}, Signature: nonce[:]})
		if p.Solution.Counter < 500 { // so that a slow machine is soon done
			list = append(list, p)
		}
	}
	now, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/work.json"
	if *updateWork {
		if err := os.WriteFile(path, append(now, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if then, err := os.ReadFile(path); err != nil || string(then) != string(now)+"\n" {
		t.Errorf("what a browser works on is not what it was (%v)", err)
	}
}
