package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/waitingroom"
)

const (
	comers    = 512             // people who ask to come in at once
	linedUp   = 200_000         // people who were called
	callsFree = 20              // slots that are free at first, the last ones of the room
	measured  = 4 * time.Second // for each size of a room
)

// calledRoom is a room whose line was called, and that is taken but for its last free slots.
func calledRoom(b *testing.B, db *pgxpool.Pool, slots, free int) *waitingroom.Room {
	ctx := b.Context()
	event, room := fmt.Sprintf("event-%d", slots), fmt.Sprintf("room-%d", slots)
	if _, err := events.Create(ctx, db, events.Settings{Slug: event, Name: "Bench", StartsAt: time.Now()}, rows(1000)); err != nil {
		b.Fatal(err)
	}
	if _, err := (waitingroom.Control{DB: db, Who: "bench"}).Create(ctx, waitingroom.NewRoom{Slug: room, Name: "Bench", Events: []string{event}, Slots: slots}); err != nil {
		b.Fatal(err)
	}
	for _, sql := range []string{
		`UPDATE room SET phase = 'open', line = $2, serving = $2, version = version + 1 WHERE slug = $1`,
		`INSERT INTO called SELECT id, epoch, $2::bigint FROM room WHERE slug = $1`,
		`INSERT INTO slot AS s (room_id, slot, epoch, number, holder, since, expires_at)
		 SELECT r.id, n, 1, 10000000 + n, gen_random_uuid(), now(), now() + interval '1 hour' FROM room r, generate_series(1, r.slots - $2::integer) n WHERE r.slug = $1
		     ON CONFLICT (room_id, slot) DO UPDATE SET epoch = 1, number = excluded.number, holder = excluded.holder, since = now(), expires_at = excluded.expires_at`,
	} {
		n := linedUp
		if sql[0] == 'I' && sql[12] == 's' {
			n = free
		}
		if _, err := db.Exec(ctx, sql, room, n); err != nil {
			b.Fatal(err)
		}
	}
	r, err := waitingroom.New(db, db.Config().ConnString(), quiet).Room(ctx, room)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// token is the queue token in a waiting browser's cookie.
func token(b *testing.B, g *waitingroom.Rooms, room *waitingroom.Room, holder seats.ID, index int64) string {
	text, err := g.Sign(b.Context(), waitingroom.Place{Room: room.ID, Epoch: 1, Kind: waitingroom.Line, Index: index}, holder)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// BenchmarkAdmissions has people come into a room that is nearly full; each leaves as soon as they are inside.
func BenchmarkAdmissions(b *testing.B) {
	for _, slots := range []int{100, 1000, 5000, 20_000} {
		b.Run(fmt.Sprint(slots), func(b *testing.B) {
			db := startServer(b, 16)
			room := calledRoom(b, db, slots, callsFree)
			g := waitingroom.New(db, db.Config().ConnString(), quiet)
			ctx, cancel := context.WithTimeout(b.Context(), measured)
			defer cancel()
			var next, in, full atomic.Int64
			var all sync.WaitGroup
			for range comers {
				all.Go(func() {
					for ctx.Err() == nil {
						holder, index := seats.NewID(), next.Add(1)
						place := token(b, g, room, holder, index)
						for ctx.Err() == nil {
							v, err := room.Enter(ctx, holder, place)
							if err != nil && ctx.Err() == nil {
								b.Error(err)
								return
							}
							if v.Inside {
								in.Add(1)
								_, _ = room.Leave(ctx, holder, place) // the time may be up
								break
							}
							full.Add(1)
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(in.Load())/measured.Seconds(), "admissions/s")
			b.ReportMetric(float64(in.Load()+full.Load())/measured.Seconds(), "answers/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkOpening has people come into a room that is empty, until it is full.
func BenchmarkOpening(b *testing.B) {
	for _, slots := range []int{1000, 5000, 20_000} {
		b.Run(fmt.Sprint(slots), func(b *testing.B) {
			db := startServer(b, 16)
			room := calledRoom(b, db, slots, slots)
			g := waitingroom.New(db, db.Config().ConnString(), quiet)
			var next, in atomic.Int64
			var all sync.WaitGroup
			began := time.Now()
			for range comers {
				all.Go(func() {
					for index := next.Add(1); index <= int64(slots); index = next.Add(1) {
						holder := seats.NewID()
						v, err := room.Enter(b.Context(), holder, token(b, g, room, holder, index))
						if err != nil {
							b.Error(err)
							return
						}
						if v.Inside {
							in.Add(1)
						}
					}
				})
			}
			all.Wait()
			if in.Load() != int64(slots) {
				b.Errorf("%d of %d came in", in.Load(), slots)
			}
			b.ReportMetric(float64(slots)/time.Since(began).Seconds(), "admissions/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
