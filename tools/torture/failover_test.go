package main

import (
	"log/slog"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/events"
)

// A server writes its new timeline into its control file minutes after a promotion, with the next checkpoint. Maps that were
// read before it and after it belong to the same run of the server.
func TestEpoch_StaysTheSameThroughTheCheckpointAfterAPromotion(t *testing.T) {
	t.Parallel()
	server, _ := short(t)
	name, err := server.newDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	epoch := func() uint32 {
		t.Helper()
		db, err := database.Connect(t.Context(), server.dsn(name))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		sale, err := seats.NewInventory(db, slog.New(slog.DiscardHandler)).Sale(t.Context(), "evening")
		if err != nil {
			t.Fatal(err)
		}
		epoch, _ := sale.At()
		return epoch
	}
	db, err := database.Connect(t.Context(), server.dsn(name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := events.Create(t.Context(), db, events.Settings{Slug: "evening", Name: "Evening", StartsAt: time.Now()}, floor(10, 0)); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	before := epoch()
	next, err := server.standby(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The standby has so much to write that its own checkpoint takes minutes.
	if _, err := db.Exec(t.Context(), `CREATE TABLE much AS SELECT repeat('x', 1000) FROM generate_series(1, 20000)`); err != nil {
		t.Fatal(err)
	}
	if err := next.takesOver(t.Context(), func() {}); err != nil {
		t.Fatal(err)
	}
	promoted := epoch()
	if err := server.checkpoint(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if after := epoch(); before == promoted || promoted != after {
		t.Errorf("the epoch was %x, is %x on the promoted standby, and %x after a checkpoint", before, promoted, after)
	}
}
