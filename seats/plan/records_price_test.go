package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// costsOf are the seats of a plan with the names and prices of their categories.
func costsOf(t *testing.T, file string, columns map[string]string) (told string, r *Result) {
	t.Helper()
	r, err := Take([]byte(file), "House", columns)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for i := range r.Plan.Seats {
		c := r.Plan.Categories[r.Plan.Seats[i].Category]
		list = append(list, fmt.Sprintf("%s %s=%d", r.Plan.Label(i), c.Name, c.Price))
	}
	return strings.Join(list, ", "), r
}

func TestPrices_OfAFileAreThoseOfItsCategories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"a table":          {"row;seat;category;price;x;y\nA;1;Front;25.00;0;0\nA;2;Front;€ 25;20;0\nB;1;Back;12,50;0;24\n", "Seats/A/1 Front=2500, Seats/A/2 Front=2500, Seats/B/1 Back=1250"},
		"no category":      {"row,seat,price,x,y\nA,1,25.00,0,0\nA,2,12.50,20,0\n", "Seats/A/1 25.00=2500, Seats/A/2 12.50=1250"},
		"one price":        {"row,seat,price,x,y\nA,1,25.00,0,0\nA,2,25,20,0\n", "Seats/A/1 A=2500, Seats/A/2 A=2500"},
		"two of one name":  {"row,seat,category,price,x,y\nA,1,Front,30,0,0\nA,2,Front,25.00,20,0\n", "Seats/A/1 Front 30.00=3000, Seats/A/2 Front 25.00=2500"},
		"other JSON":       {`{"rows": [{"label": "A", "seats": [{"no": 1, "x": 0, "y": 0, "price": 1200.5}, {"no": 2, "x": 20, "y": 0, "price": 30}]}]}`, "Seats/A/1 1200.50=120050, Seats/A/2 30.00=3000"},
		"a drawing":        {`<svg><circle class="seat" data-row="A" data-number="1" data-price="CHF 1'234.50" cx="0" cy="0" r="4"/><circle class="seat" data-row="A" data-number="2" data-price="20" cx="20" cy="0" r="4"/></svg>`, "Seats/A/1 1234.50=123450, Seats/A/2 20.00=2000"},
		"numbers of kinds": {"row,seat,price,x,y\nA,1,1,0,0\nA,2,2,20,0\n", "Seats/A/1 1=0, Seats/A/2 2=0"},
		"words":            {"row,seat,price,x,y\nA,1,Front,0,0\nA,2,25,20,0\n", "Seats/A/1 Front=0, Seats/A/2 25=0"},
	} {
		if got, _ := costsOf(t, c.file, nil); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got, _ := costsOf(t, "row,seat,price,x,y\nA,1,1,0,0\nA,2,2,20,0\n", map[string]string{"price": "price", "category": ""}); got != "Seats/A/1 1.00=100, Seats/A/2 2.00=200" {
		t.Errorf("small prices that were asked for: %s", got)
	}
}

func TestPrices_ThatAreNoneAreSaidWithTheirLines(t *testing.T) {
	t.Parallel()
	_, err := Take([]byte("row,seat,cost,x,y\nA,1,25,0,0\nA,2,1.234,20,0\nA,3,-5,40,0\nA,4,99999999999,60,0\n"), "House", map[string]string{"price": "cost"})
	var told *Error
	if !errors.As(err, &told) || told.Line != 3 || len(told.Others) != 2 || !strings.Contains(told.Reason, `"1.234" is no price`) {
		t.Errorf("%v", err)
	}
}

func TestPrices_ThatAreMissingAreCounted(t *testing.T) {
	t.Parallel()
	const free = "The file does not say what seats cost."
	for file, want := range map[string]string{
		"row,seat,price,x,y\nA,1,25,0,0\nA,2,,20,0\n":  "Seats without a price in the file: 1.",
		"row,seat,price,x,y\nA,1,25,0,0\nA,2,0,20,0\n": "",
		"row,seat,price,x,y\nA,1,,0,0\nA,2,,20,0\n":    free,
	} {
		_, r := costsOf(t, file, map[string]string{"price": "price", "category": ""})
		var said []string
		for _, w := range r.Warnings {
			said = append(said, w.String())
		}
		if all := strings.Join(said, "\n"); !strings.Contains(all, want) || strings.Contains(all, free) != (want == free) || want == "" && all != "" {
			t.Errorf("%q: %q", file, all)
		}
	}
}
