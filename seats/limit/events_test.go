package limit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// sale is an event of 200 seats with holds of eight minutes.
func sale(t *testing.T, db *pgxpool.Pool) *seats.Sale {
	t.Helper()
	hall, known := plan.Named("conference")
	if !known {
		t.Fatal("there is no plan conference")
	}
	if _, err := events.Create(t.Context(), db, events.Settings{Name: "Evening", StartsAt: time.Unix(4e9, 0), HoldLength: 8 * time.Minute}, hall); err != nil {
		t.Fatal(err)
	}
	s, err := seats.NewInventory(db, quiet).Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func network(address string) limit.Network { return limit.NetworkOf(netip.MustParseAddr(address)) }

func TestAlarm_HoardedSeatsChallengeAllVisitors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		granted, ordered int
		alarm            bool
	}{
		"a botnet: a fifth is not ordered":   {60, 11, true},
		"a crowd: a fifth is ordered":        {60, 12, false},
		"hardly anybody":                     {49, 0, false},
		"a fan club that orders in the next": {150, 149, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := seatstest.DB(t)
			s := sale(t, db)
			here, there := limit.NewEvents(db, quiet), limit.NewEvents(db, quiet)
			e, began := here.Of(s), time.Now()
			for i := range c.granted { // each of a network of their own
				e.Granted(seats.NewID(), network(fmt.Sprintf("203.0.%d.7", i)), 0, 1, "")
			}
			for window := range 3 {
				if window == 1 {
					e.Ordered(c.ordered) // what is claimed at the end of a window may be ordered in the next
				}
				if err := limit.Step(here, t.Context(), began.Add(time.Duration(window)*(8*time.Minute+time.Second))); err != nil {
					t.Fatal(err)
				}
			}
			if err := there.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			now := time.Now()
			for node, e := range map[string]*limit.Event{"here": e, "on another node": there.Of(s)} {
				a := e.State(now).Alarm
				if (a != nil) != c.alarm {
					t.Fatalf("%s the alarm is %+v", node, a)
				}
				if asked := e.Asks(network("198.51.100.7"), 1, now); asked != c.alarm {
					t.Errorf("%s a visitor of a quiet network is checked: %v", node, asked)
				}
				if a == nil {
					continue
				}
				if !a.Everyone || !strings.Contains(a.Reason.String(), "claimed 60 seats") || !strings.Contains(a.Reason.String(), "ordered 11") {
					t.Errorf("%s the alarm is %+v", node, a)
				}
				if e.Asks(network("198.51.101.7"), 1, a.Until) {
					t.Errorf("%s visitors are checked after its end", node)
				}
			}
			if !c.alarm {
				return
			}
			for _, mode := range []limit.Mode{limit.Off, limit.Automatic} { // who sets the challenge has seen the alarm
				if err := here.Set(t.Context(), s.Event.ID, limit.Settings{Challenge: mode}, nil); err != nil {
					t.Fatal(err)
				}
				if e.Asks(network("198.51.102.7"), 1, time.Now()) {
					t.Errorf("visitors are checked although the desk said %s", mode)
				}
			}
		})
	}
}

func TestFigures_FamilyAndOfficeNeverMeetTheUsualOnes(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	s := sale(t, db)
	es := limit.NewEvents(db, quiet)
	e, now := es.Of(s), time.Now()
	if f := e.Figures(); f.SeatsPerNetwork != 50 || f.UnpaidPerNetwork != 30 || f.UnpaidPerEmail != 10 {
		t.Errorf("the usual figures of 200 seats are %+v", f)
	}
	for person := range 8 { // each takes six
		if e.Asks(network("203.0.113.7"), 6, now) {
			t.Errorf("person %d of one router is checked", person)
		}
	}
	if !e.Asks(network("203.0.113.7"), 6, now) {
		t.Error("the 54th seat of one network is not checked")
	}
	if e.Asks(network("203.0.114.7"), 6, now) {
		t.Error("another network is checked")
	}
	if err := es.Set(t.Context(), s.Event.ID, limit.Settings{Challenge: limit.Automatic, SeatsPerNetwork: 6}, nil); err != nil {
		t.Fatal(err)
	}
	if e.Asks(network("203.0.115.7"), 6, now) || !e.Asks(network("203.0.115.7"), 1, now) {
		t.Error("the figure of the desk does not hold")
	}
	for _, wrong := range []limit.Settings{{}, {Challenge: limit.Off, UnpaidPerEmail: -1}, {Challenge: limit.Always, SeatsPerNetwork: 100_001}} {
		if err := es.Set(t.Context(), s.Event.ID, wrong, nil); err == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
}

func TestAlarm_OneNetworkDoesNotChallengeAllVisitors(t *testing.T) {
	t.Parallel()
	for name, attack := range map[string]func(*limit.Event){
		"many seats of one network": func(e *limit.Event) {
			for range 20 {
				e.Granted(seats.NewID(), network("203.0.113.7"), 0, 6, "")
			}
		},
		"one visitor claims and releases": func(e *limit.Event) {
			who := seats.NewID()
			for range 100 {
				e.Granted(who, network("203.0.113.7"), 0, 4, "")
				e.Released(who, 0)
			}
		},
		"visitors of many networks release all": func(e *limit.Event) {
			for i := range 100 {
				who := seats.NewID()
				e.Granted(who, network(fmt.Sprintf("203.0.%d.7", i)), 0, 4, "")
				e.Released(who, 0)
			}
		},
		"a claim is repeated": func(e *limit.Event) {
			for i := range 10 {
				who := seats.NewID()
				for range 10 {
					e.Granted(who, network(fmt.Sprintf("203.0.%d.7", i)), 0, 4, "")
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := seatstest.DB(t)
			s := sale(t, db)
			es := limit.NewEvents(db, quiet)
			e, began := es.Of(s), time.Now()
			attack(e)
			for window := range 3 {
				if err := limit.Step(es, t.Context(), began.Add(time.Duration(window)*(8*time.Minute+time.Second))); err != nil {
					t.Fatal(err)
				}
			}
			if a := e.State(time.Now()).Alarm; a != nil {
				t.Errorf("the alarm is %+v", a)
			}
		})
	}
}

// counting is a database that counts the statements it is sent.
type counting struct {
	seats.DB
	n atomic.Int64
}

func (c *counting) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	c.n.Add(1)
	return c.DB.Exec(ctx, sql, args...)
}

func (c *counting) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	c.n.Add(1)
	return c.DB.Query(ctx, sql, args...)
}

func TestStep_WithoutAnAlarmItLeavesTheDatabaseAlone(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	s := sale(t, db)
	c := &counting{DB: db}
	es := limit.NewEvents(c, quiet)
	e, began := es.Of(s), time.Now()
	e.Granted(seats.NewID(), network("203.0.113.7"), 0, 6, "")
	for second := range 3600 {
		if err := limit.Step(es, t.Context(), began.Add(time.Duration(second)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.n.Load(); n != 0 {
		t.Errorf("an hour without an alarm made %d statements", n)
	}
}

func TestChannel_NodesAreToldOfEachChange(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	s := sale(t, db)
	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), `LISTEN `+limit.Channel); err != nil {
		t.Fatal(err)
	}
	es := limit.NewEvents(db, quiet)
	e, now := es.Of(s), time.Now()
	for _, change := range []struct {
		name string
		do   func() error
	}{
		{"new settings", func() error {
			return es.Set(t.Context(), s.Event.ID, limit.Settings{Challenge: limit.Automatic, SeatsPerNetwork: 1}, nil)
		}},
		{"an alarm", func() error {
			e.Asks(network("203.0.113.7"), 1, now)
			e.Asks(network("203.0.113.7"), 1, now)
			return limit.Step(es, t.Context(), now)
		}},
		{"a copy", func() error { return es.Copy(t.Context(), s.Event.ID, s.Event.ID) }},
	} {
		if err := change.do(); err != nil {
			t.Fatal(err)
		}
		waits, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		if _, err := conn.Conn().WaitForNotification(waits); err != nil {
			t.Errorf("%s: %v", change.name, err)
		}
		cancel()
	}
}

// slow is a database that answers, and does something before the answer is read.
type slow struct {
	seats.DB
	answered func()
}

func (s *slow) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	rows, err := s.DB.Query(ctx, sql, args...)
	s.answered()
	return rows, err
}

// Each of two readers that overtake each other would have its own settings count.
func TestRead_IsNotOvertaken(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	s := sale(t, db)
	there, reads := limit.NewEvents(db, quiet), 0
	to := func(n int) {
		if err := there.Set(t.Context(), s.Event.ID, limit.Settings{Challenge: limit.Automatic, SeatsPerNetwork: n}, nil); err != nil {
			t.Error(err)
		}
	}
	to(7)
	database, next := &slow{DB: db}, make(chan error, 1)
	es := limit.NewEvents(database, quiet)
	database.answered = func() {
		if reads++; reads > 1 {
			return
		}
		to(8)
		if !limit.IsReading(es) {
			t.Error("another Read may begin, and end before this one")
		}
		go func() { next <- es.Read(t.Context()) }()
	}
	if err := errors.Join(es.Read(t.Context()), <-next); err != nil {
		t.Fatal(err)
	}
	if n := es.Of(s).Figures().SeatsPerNetwork; n != 8 {
		t.Errorf("a network may have %d seats, want 8", n)
	}
}
