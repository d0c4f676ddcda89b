package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/cmd/usher/rush"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

// ledgerSQL is what the orders, tickets and holds of an event come to: seats sold, seats that came back, orders, orders of holds, the
// price of the tickets that are valid, and how many those are.
const ledgerSQL = `
WITH t AS (SELECT t.* FROM ticket t JOIN orders o ON o.id = t.order_id WHERE o.event_id = $1)
SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM t WHERE revoked_at IS NOT NULL), (SELECT count(*) FROM orders WHERE event_id = $1),
       (SELECT count(*) FROM orders WHERE event_id = $1 AND NOT at_office), (SELECT coalesce(sum(price), 0)::bigint FROM t WHERE revoked_at IS NULL),
       (SELECT count(*) FROM t WHERE revoked_at IS NULL)`

// ledger is how an event stands by its books.
type ledger struct {
	Sold, Returned, Orders, Ordered int
	Revenue                         int64
	Valid                           int
}

func TestDesk_FiguresAreThoseOfTheLedgerAfterEachCrowd(t *testing.T) {
	t.Parallel()
	for name, crowd := range map[string]struct {
		hold   time.Duration
		flags  []string
		sawAll func(sales.Sums) bool
	}{
		"buys and gives up":     {8 * time.Second, []string{"--people", "60", "--over", "1s", "--give-up", "0.2", "--expire", "0", "--repeat", "0.3"}, func(s sales.Sums) bool { return s.GivenBack > 0 }},
		"lets its time run out": {3 * time.Second, []string{"--people", "60", "--over", "1s", "--expire", "0.2"}, func(s sales.Sums) bool { return s.Expired > 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := seatstest.DB(t)
			hall, err := rush.Hall(360, false)
			if err != nil {
				t.Fatal(err)
			}
			hall.Categories = append(hall.Categories, seats.Category{Key: "B", Name: "At the box office", Price: 2000})
			hall.Categories[0].Price = 0 // the crowd reads no mail
			last := len(hall.Seats) - 40
			for i := range hall.Seats[last:] {
				hall.Seats[last+i].Category = 1
			}
			e, err := events.Create(t.Context(), db, events.Settings{Name: "Evening", StartsAt: time.Unix(4e9, 0), HoldLength: crowd.hold}, hall)
			if err != nil {
				t.Fatal(err)
			}
			node := runNode(t, &Config{DatabaseSettings: DatabaseSettings{DatabaseURL: db.Config().ConnString()}, Log: "text"})
			desk := deskOf(t, db, node.url)
			desk("/desk/events/evening/blocks", fmt.Sprintf(`{"key":"b","seats":"%s","reason":"box office"}`, strings.Join(labelsOf(hall, last), ",")))
			if out, err := try(t, append([]string{"rush", "--url", node.url, "--event", "evening", "--scenario", "stadium", "--think", "300ms", "--buy", "--json"}, crowd.flags...)...); err != nil {
				t.Fatal(err, out)
			}
			for n := range 5 { // and the box office sells, and cancels one
				code := desk("/desk/events/evening/sales", fmt.Sprintf(`{"key":"s%d","seat":[%q],"method":"cash"}`, n, hall.Label(last+n)))
				if n == 0 {
					desk("/desk/events/evening/orders/"+code+"/cancellations", `{"key":"c","all":true}`)
				}
			}
			if total := agrees(t, db, e); !crowd.sawAll(total) {
				t.Errorf("the crowd came to %+v", total)
			}
		})
	}
}

func labelsOf(p *seats.Plan, first int) (labels []string) {
	for idx := first; idx < len(p.Seats); idx++ {
		labels = append(labels, p.Label(idx))
	}
	return labels
}

// deskOf is a program with a key of an owner. It sends JSON, and returns the code of the order in the answer.
func deskOf(t *testing.T, db *pgxpool.Pool, address string) func(path, body string) (order string) {
	t.Helper()
	if _, err := db.Exec(t.Context(), `WITH o AS (INSERT INTO organizer (email, name) VALUES ('ann@example.org', 'Ann') RETURNING id),
		m AS (INSERT INTO member (team_id, organizer_id, role) SELECT first_team(), id, 'owner' FROM o)
		INSERT INTO api_key (team_id, organizer_id, name, scopes, hash, start) SELECT first_team(), id, 'k', '{look,manage,sell}', sha256('key'), 'k' FROM o`); err != nil {
		t.Fatal(err)
	}
	return func(path, body string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer key")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		said, err := io.ReadAll(a.Body)
		if err != nil || a.StatusCode >= 300 {
			t.Fatalf("%s %s: %d %s, %v", path, body, a.StatusCode, said, err)
		}
		var answer struct{ Order struct{ Code string } }
		if len(said) > 0 {
			if err := json.Unmarshal(said, &answer); err != nil {
				t.Fatal(err)
			}
		}
		return answer.Order.Code
	}
}

// agrees holds what the live desk shows of an event against its books.
func agrees(t *testing.T, db *pgxpool.Pool, e seats.Event) sales.Sums {
	t.Helper()
	office := seats.NewInventory(db, slog.New(slog.DiscardHandler))
	sale, err := office.Sale(t.Context(), e.Slug)
	if err != nil {
		t.Fatal(err)
	}
	organizer := organizers.New(db, func() {})
	live, err := sales.New(db, organizer).Live(t.Context(), organizers.Member{Organizer: 1, Team: e.Team, Role: organizers.Owner}, &sales.Evening{}, sale, sales.LastHour, true)
	if err != nil {
		t.Fatal(err)
	}
	var books ledger
	if err := db.QueryRow(t.Context(), ledgerSQL, e.ID).Scan(&books.Sold, &books.Returned, &books.Orders, &books.Ordered, &books.Revenue, &books.Valid); err != nil {
		t.Fatal(err)
	}
	shown := ledger{live.Total.Sold, live.Total.Returned, live.Total.Orders, live.Total.Ordered, live.Revenue(), live.Sold}
	if shown != books || books.Orders < 15 || books.Revenue != 4*2000 {
		t.Errorf("the desk shows %+v, and the books have %+v", shown, books)
	}
	if begun, ended := live.Total.Begun, live.Total.Ordered+live.Total.Expired+live.Total.GivenBack+live.Holding; begun != ended {
		t.Errorf("%d holds began; %d were ordered, %d expired, %d were given back, and %d are held", begun, live.Total.Ordered, live.Total.Expired, live.Total.GivenBack, live.Holding)
	}
	if report, err := verify.Look(t.Context(), db, ""); err != nil || report.Broken() > 0 {
		t.Errorf("%v: %+v", err, report)
	}
	return live.Total
}
