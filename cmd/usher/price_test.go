package main

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/plan"
)

func TestPricesAreReadInTheMinorUnitOfTheirCurrency(t *testing.T) {
	t.Parallel()
	for currency, amounts := range map[string]map[string]int64{
		"EUR": {"25": 2500, "25.5": 2550, "0.05": 5, "1000000.00": 100000000, "0": 0},
		"JPY": {"3000": 3000},
		"KWD": {"1.250": 1250, "7": 7000},
	} {
		for text, want := range amounts {
			p := &seats.Plan{Categories: []seats.Category{{Key: "A"}, {Key: "B", Price: 7}}}
			if err := setPrices(p, map[string]string{"A": text}, currency); err != nil || p.Categories[0].Price != want || p.Categories[1].Price != 7 {
				t.Errorf("%s %s became %+v, %v", text, currency, p.Categories, err)
			}
		}
	}
	for _, text := range []string{"", "A", "=5", "A=", "A=-5", "A=1.234", "A=1,50", "A=1e3", "A=+1", "A=99999999999999999999"} {
		var all commands
		if _, err := parserOf(&all).Parse([]string{"event", "create", "--name", "X", "--plan", "theatre", "--price", text}); err != nil {
			continue
		}
		if setPrices(&seats.Plan{Categories: []seats.Category{{Key: "A"}}}, all.Event.Create.Price, "EUR") == nil {
			t.Errorf("%q was taken for a price", text)
		}
	}
	err := setPrices(&seats.Plan{Categories: []seats.Category{{Key: "A"}}}, map[string]string{"Z": "1"}, "EUR")
	if err == nil || !strings.Contains(err.Error(), "it has A") {
		t.Errorf("an unknown category got %v", err)
	}
	if err := setPrices(&seats.Plan{Categories: []seats.Category{{Key: "A"}}}, map[string]string{"A": "1.5"}, "JPY"); err == nil || !strings.Contains(err.Error(), "0 decimals") {
		t.Errorf("half a yen got %v", err)
	}
}

func TestPrices_OfAFileCountInTheCurrencyOfTheEvent(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]int64{"EUR": 3000_00, "JPY": 3000, "KWD": 3000_000} {
		found, err := plan.Take([]byte("row,seat,price,x,y\nA,1,3000,0,0\n"), "House", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := inCurrency(found, currency); err != nil || found.Plan.Categories[0].Price != want {
			t.Errorf("%s: %+v, %v", currency, found.Plan.Categories, err)
		}
	}
	found, err := plan.Take([]byte("row,seat,price,x,y\nA,1,12.50,0,0\n"), "House", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := inCurrency(found, "JPY"); err == nil || !strings.Contains(err.Error(), "0 decimals") {
		t.Errorf("half a yen: %v", err)
	}
}
