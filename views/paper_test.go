package views_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	published "github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

func TestPaper_PrintsNamesOfEveryScript(t *testing.T) {
	t.Parallel()
	s := sale(t, "theatre", nil)
	for _, name := range []string{"Ann Ørsted", "李小龍 · 山田 太郎", "שלום עולם", "Þórdís 🎭", strings.Repeat("é", 200), "\u202eevil\u0301", "Ωραία Юлия ไทย हिन्दी 한국어"} {
		p := ordered(views.Page{}, s, name)
		p.Event.Name = name
		pdf, err := p.Paper(t.Context(), shop.Print{}, published.A4)
		if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF")) || len(pdf) > 200_000 {
			t.Errorf("%s: %d bytes, %v", name, len(pdf), err)
		}
		if dir := os.Getenv("PAPER"); dir != "" {
			_ = os.WriteFile(dir+"/"+strings.ReplaceAll(name[:3], "/", "")+".pdf", pdf, 0o600)
		}
	}
}

func TestOnlyLiveTicketsArePrinted(t *testing.T) {
	t.Parallel()
	p := shop.OrderPage{Sale: sale(t, "theatre", nil), Order: orders.Order{Name: "Ann", Currency: "EUR", CreatedAt: time.Unix(2e9, 0)}}
	count := func() int {
		pdf, err := p.Paper(t.Context(), shop.Print{}, published.A4)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(pdf, []byte("/Type /Page\n"))
	}
	for i := range 4 {
		p.Order.Tickets = append(p.Order.Tickets, orders.Ticket{ID: seats.ID{byte(i)}, Idx: i, Code: strings.Repeat("Z", 149)})
	}
	if n := count(); n != 2 {
		t.Errorf("four tickets are on %d pages, want 2", n)
	}
	p.Order.Tickets[3].Code = ""
	if n := count(); n != 1 {
		t.Errorf("three that are valid are on %d pages, want 1", n)
	}
}

func BenchmarkPaper(b *testing.B) {
	p := shop.OrderPage{Order: orders.Order{Name: "Ann", Currency: "EUR", CreatedAt: time.Unix(2e9, 0)}}
	p.Plan = &seats.Plan{Categories: []seats.Category{{Name: "A"}}, Sections: []seats.Section{{Name: "Stalls"}}, Seats: []seats.Seat{{Row: "A", Number: "1"}}}
	p.Order.Tickets = []orders.Ticket{{Code: strings.Repeat("Z", 149)}}
	for b.Loop() {
		if _, err := p.Paper(b.Context(), shop.Print{}, published.A4); err != nil {
			b.Fatal(err)
		}
	}
}
