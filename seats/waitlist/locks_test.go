package waitlist_test

import (
	"context"
	"errors"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitlist"
)

// A batch with offers locks the entries in the order of their ids.
func TestEntries_AreLockedInTheOrderOfTheirIDs(t *testing.T) {
	t.Parallel()
	h := build(t, hall(1, 0), week/2, 1, false)
	n := h.nodes[0]
	n.fill(t)
	first, second := n.joins(t, "zoe@example.org", one), n.joins(t, "ann@example.org", one) // their addresses and their ranks are the other way round
	h.exec(t, `UPDATE entry SET rank = -id, until = clock_timestamp()`)
	batch, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = batch.Rollback(context.Background()) }() // it is over, if all went well
	const lockEntry = `SELECT FROM entry WHERE code = $1 FOR NO KEY UPDATE NOWAIT`
	if _, err := batch.Exec(t.Context(), lockEntry, first); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := n.list.Round(context.Background(), h.slug)
		done <- err
	}()
	h.eventually(t, "the round waits for the batch", func() bool {
		return h.count(t, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	})
	if _, err := batch.Exec(t.Context(), lockEntry, second); err != nil {
		t.Errorf("the round waits for the first entry and has the second one: %v", err)
	}
	if err := batch.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A round that read the list before the pause would make offers after it.
func TestPause_ReturnsAfterTheRoundUnderWay(t *testing.T) {
	t.Parallel()
	h := build(t, hall(1, 0), week/2, 1, false)
	n := h.nodes[0]
	has := n.fill(t)
	n.joins(t, "ann@example.org", one)
	if _, err := n.sale.Release(t.Context(), has[0], 0); err != nil {
		t.Fatal(err)
	}
	batch, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = batch.Rollback(context.Background()) }() // it is over, if all went well
	if _, err := batch.Exec(t.Context(), `SELECT FROM entry FOR NO KEY UPDATE`); err != nil {
		t.Fatal(err)
	}
	waiting := func(locks int) func() bool {
		return func() bool {
			return h.count(t, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == locks
		}
	}
	round, pause := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := n.list.Round(context.Background(), h.slug)
		round <- err
	}()
	h.eventually(t, "the round waits for the batch", waiting(1))
	olga := n.control(h, t)
	go func() { pause <- olga.Pause(context.Background(), h.slug, "We count the seats.") }()
	h.eventually(t, "the pause waits for the round", func() bool {
		select {
		case err := <-pause:
			t.Fatalf("the list is paused while a round makes offers: %v", err)
		default:
		}
		return waiting(2)()
	})
	if err := batch.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	if err := errors.Join(<-round, <-pause); err != nil {
		t.Error(err)
	}
}

// What became of an offer is settled offer first, entry second; an order that failed keeps to that.
func TestAFailedOrder_LocksTheOfferBeforeItsEntry(t *testing.T) {
	t.Parallel()
	h := build(t, hall(1, 0), week/2, 1, false)
	n := h.nodes[0]
	has := n.fill(t)
	n.agrees(t, "ann@example.org", "door", 10_000)
	asked, fail := make(chan struct{}), make(chan struct{})
	n.list.Order = func(context.Context, *seats.Sale, waitlist.Purchase) error {
		close(asked)
		<-fail
		return errors.New("the provider of payments does not answer")
	}
	if _, err := n.sale.Release(t.Context(), has[0], 0); err != nil {
		t.Fatal(err)
	}
	round := make(chan error, 1)
	go func() {
		_, err := n.list.Round(context.Background(), h.slug)
		round <- err
	}()
	<-asked
	settling, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = settling.Rollback(context.Background()) }() // it is over, if all went well
	if _, err := settling.Exec(t.Context(), `SELECT FROM offer WHERE state = 'open' FOR NO KEY UPDATE`); err != nil {
		t.Fatal(err)
	}
	close(fail)
	h.eventually(t, "the failed order waits for the offer", func() bool {
		return h.count(t, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	})
	if _, err := settling.Exec(t.Context(), `SELECT FROM entry FOR NO KEY UPDATE NOWAIT`); err != nil {
		t.Errorf("the failed order waits for the offer and has the entry: %v", err)
	}
	if err := settling.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-round; err != nil {
		t.Error(err)
	}
	if n := h.count(t, `SELECT count(*) FROM wait_step WHERE what = 'not ordered'`); n != 1 {
		t.Errorf("%d failed orders are written down, want 1", n)
	}
}
