package views_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// golden are amounts as people write them. The scripts are held to the same file (static/page.test.mjs), given the sign
// and the decimals that a page says.
func golden(t *testing.T) (amounts []struct {
	Currency string
	Minor    int64
	Text     string
},
) {
	t.Helper()
	text, err := os.ReadFile("../static/testdata/money.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &amounts); err != nil {
		t.Fatal(err)
	}
	return amounts
}

func TestAmountsAreWrittenAsPeopleDoWithTheSignThatPagesTellTheirScripts(t *testing.T) {
	t.Parallel()
	for _, a := range golden(t) {
		if got := views.Money(a.Minor, a.Currency); got != a.Text {
			t.Errorf("%d of %s is %q, want %q", a.Minor, a.Currency, got, a.Text)
		}
		facts := shop.Sale{Event: seats.Event{Currency: a.Currency}, Plan: &seats.Plan{}}.Body(t.Context())
		form, _ := facts["data-money"].(string)
		if before, after, _ := strings.Cut(form, "%s"); before+after == "" || !strings.HasPrefix(a.Text, before) || !strings.HasSuffix(a.Text, after) {
			t.Errorf("pages say that amounts of %s are written as %q, want that of %q", a.Currency, form, a.Text)
		}
	}
}
