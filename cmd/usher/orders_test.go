package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

func TestAnExportHasEveryTicketAndNoFormula(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	p, _ := plan.Named("conference")
	if _, err := seats.CreateEvent(t.Context(), db, seats.NewEvent{Name: "Evening", StartsAt: time.Unix(2e9, 0)}, p); err != nil {
		t.Fatal(err)
	}
	s, err := seats.NewOffice(db, slog.New(slog.NewTextHandler(io.Discard, nil))).Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	o := orders.New(db)
	names := []string{"=HYPERLINK(\"http://evil.example\")", "+1", "-2+3", "@SUM(A1)", "＝1+1", "|cmd", "李, \"小龍\"", "O'Neill"}
	for i, name := range names {
		who := seats.NewID()
		hold, err := s.Claim(t.Context(), who, "", seats.Wish{Area: "Places", Quantity: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Place(t.Context(), s, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: name, Email: fmt.Sprintf("ann.%d@example.org", i), Method: orders.Free}); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := writeCSV(t.Context(), &out, o, s); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != len(names)+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, row := range rows[1:] {
		if strings.TrimPrefix(row[3], "'") != names[i] {
			t.Errorf("%q became %q", names[i], row[3])
		}
		for _, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@|＝", []rune(cell)[0]) {
				t.Errorf("%q is a formula", cell)
			}
		}
	}
	for _, bad := range []string{"\t=1", " =1", "\n=1", "\u00a0=1"} {
		if handlers.Harmless(bad)[0] != '\'' {
			t.Errorf("%q is a formula", bad)
		}
	}
}
