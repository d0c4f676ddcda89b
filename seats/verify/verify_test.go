package verify_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

func TestABusyEventKeepsItsBooks(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{HoldLength: time.Second, SeatsPerHolder: 4})
	watch := verify.NewWatch(h.db, h.office)
	ctx, stop := context.WithCancel(t.Context())
	var crowd sync.WaitGroup
	for person := range 32 {
		random := rand.New(rand.NewPCG(7, uint64(person)))
		crowd.Go(func() {
			for ctx.Err() == nil {
				h.visit(t, random)
			}
		})
	}
	for range 20 {
		before := h.sale.Version()
		r, err := watch.Look(t.Context())
		if err != nil {
			t.Error(err)
			break
		}
		wantFine(t, r)
		for h.sale.Version() < before+20 { // the crowd goes on while we look
			<-h.moved
		}
	}
	stop()
	crowd.Wait()
	r := h.look(t)
	wantFine(t, r)
	if r.Versions < 400 || r.Claims < 100 || r.Events != 1 || r.Seats != len(h.sale.Plan.Seats) {
		t.Errorf("there was little to look at: %+v", r)
	}
}

// visit is one person who claims a few seats or the best ones, and extends, releases, buys or leaves them to their end.
func (h *fixture) visit(t *testing.T, random *rand.Rand) {
	who, key, ctx := seats.NewID(), seats.NewID().String(), context.Background()
	request := seats.ClaimRequest{Best: 1 + random.IntN(3), Category: h.sale.Plan.Categories[0].Key}
	if random.IntN(3) > 0 {
		first := random.IntN(len(h.sale.Plan.Seats) - 4)
		request = seats.ClaimRequest{}
		for i := range 1 + random.IntN(4) {
			request.Seats = append(request.Seats, h.sale.Plan.Label(first+i))
		}
	}
	try := func(_ any, err error) {
		var r *seats.Conflict
		if err != nil && !errors.As(err, &r) && !errors.Is(err, seats.ErrNoHold) {
			t.Error(err)
		}
	}
	try(h.sale.Claim(ctx, who, key, request))
	switch random.IntN(20) {
	case 0:
		try(seatstest.Order(ctx, h.db, h.sale, who))
	case 1, 2, 3:
		try(h.sale.Extend(ctx, who, key+"-more"))
	case 4, 5, 6, 7, 8, 9, 10, 11, 12:
		try(h.sale.Release(ctx, who))
	case 13:
		try(h.sale.Release(ctx, who, random.IntN(50)))
		try(h.sale.Claim(ctx, who, "again", request))
	}
}

func TestPromisesAreTheOnesThatThePackagesGive(t *testing.T) {
	t.Parallel()
	var given []string
	for _, of := range []struct{ file, letter string }{
		{"../doc.go", "P"},
		{"../orders/doc.go", "O1"},
		{"../orders/doc.go", "O4"},
		{"../orders/doc.go", "O7"},
		{"../orders/doc.go", "O8"},
		{"../orders/doc.go", "O9"},
		{"../orders/doc.go", "O10"},
		{"../orders/doc.go", "O11"},
		{"../orders/doc.go", "O12"},
		{"../orders/doc.go", "O14"},
		{"../orders/doc.go", "O17"},
		{"../orders/doc.go", "O18"},
		{"../waitlist/doc.go", "W1"},
		{"../waitlist/doc.go", "W2"},
		{"../waitlist/doc.go", "W3"},
		{"../waitlist/doc.go", "W4"},
		{"../waitlist/doc.go", "W5"},
		{"../waitlist/doc.go", "W6"},
		{"../waitlist/doc.go", "W7"},
		{"../waitlist/doc.go", "W11"},
		{"../publiclog/doc.go", "H1"},
		{"../publiclog/doc.go", "H2"},
		{"../credit/doc.go", "C"},
		{"../payments/doc.go", "M"},
		{"../books/doc.go", "B"},
		{"../invoices/doc.go", "I"},
		{"../giftcards/doc.go", "G"},
		{"../subscriptions/doc.go", "U"},
		{"../privacy/doc.go", "E"},
		{"../pages/doc.go", "L4"},
		{"../till/doc.go", "Z"},
		{"../payouts/doc.go", "S"},
		{"../bookings/doc.go", "D"},
		{"../testsale/doc.go", "T1"},
	} {
		text, err := os.ReadFile(of.file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if words, ok := strings.CutPrefix(line, "//	"+of.letter); ok && (len(of.letter) == 1 || words[0] == ' ') {
				given = append(given, strings.Join(strings.Fields(of.letter+words), " "))
			}
		}
	}
	var looked []string
	for _, p := range open(t, "theatre", events.Settings{}).look(t).Promises {
		looked = append(looked, p.Name+" "+p.Words)
	}
	if strings.Join(given, "\n") != strings.Join(looked, "\n") {
		t.Errorf("the packages give\n%s\nand verify looks at\n%s", strings.Join(given, "\n"), strings.Join(looked, "\n"))
	}
}

func TestVerify_UnreadableDatabaseIsAnError(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{`DROP TABLE change`, `DROP TABLE hold CASCADE`, `ALTER TABLE seat_state DROP COLUMN expires_at`, `ALTER TABLE section RENAME TO old_section`, `ALTER TABLE hold DROP COLUMN answers`, `ALTER TABLE credit_hold DROP COLUMN captured CASCADE`} {
		t.Run(sql, func(t *testing.T) {
			t.Parallel()
			h := open(t, "theatre", events.Settings{})
			h.exec(t, `UPDATE counter SET free[1] = 0`)
			h.exec(t, `DELETE FROM seat_state WHERE idx = 3`)
			h.exec(t, sql)
			if r, err := verify.Look(t.Context(), h.db, ""); err == nil || r != nil {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
}

func TestAnEventIsLookedAtByItsSlug(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	if r, err := verify.Look(t.Context(), h.db, "evening"); err != nil || r.Events != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err := verify.Look(t.Context(), h.db, "morning"); !errors.Is(err, seats.ErrNoEvent) {
		t.Errorf("got %v", err)
	}
}

func TestOnlyTenFindingsAreToldAndAllAreCounted(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	h.exec(t, `DELETE FROM seat_state WHERE idx < 30`)
	p4 := h.look(t).Promises[3]
	if p4.Broken != 30 || len(p4.Findings) != 10 || p4.Findings[0].Seat != h.sale.Plan.Label(0) {
		t.Errorf("%d are broken and %d told, the first is %+v", p4.Broken, len(p4.Findings), p4.Findings[0])
	}
}
