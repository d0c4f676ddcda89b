package orders_test

import (
	"testing"
	"unicode"

	"github.com/usherbox/usher/seats/seatstest"
)

// folded asks the database for texts as they are compared, under the collation that knows ASCII only.
func folded(t *testing.T, texts ...string) (list []string) {
	t.Helper()
	db := seatstest.DB(t)
	if err := db.QueryRow(t.Context(), `SELECT array_agg(fold(word COLLATE "C") ORDER BY place) FROM unnest($1::text[]) WITH ORDINALITY AS n(word, place)`, texts).Scan(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestNamesAreComparedWithoutCaseAndAccentsOnAnyDatabase(t *testing.T) {
	t.Parallel()
	names := []string{"Ørsted", "STRASSE", "straße", "Łódź", "ÆRØ", "Þór", "İSTANBUL", "ışık", "ΌΔΥΣΣΕΎΣ", "οδυσσευς", "ЁЛКА", "Ann%_\\", "e\u0301", "é", "日本", "ﬁn"}
	want := []string{"orsted", "strasse", "strasse", "lodz", "aero", "thor", "istanbul", "isik", "οδυσσευσ", "οδυσσευσ", "елка", "ann%_\\", "e", "e", "日本", "fin"}
	for i, got := range folded(t, names...) {
		if got != want[i] {
			t.Errorf("%q is compared as %q, want %q", names[i], got, want[i])
		}
	}
}

func TestEveryLetterIsComparedLikeItsOtherCase(t *testing.T) {
	t.Parallel()
	var pairs []string
	for _, table := range []*unicode.RangeTable{unicode.Greek, unicode.Cyrillic, unicode.Armenian} {
		for r := rune(0x80); r < 0x590; r++ {
			if unicode.Is(table, r) && unicode.IsUpper(r) && unicode.ToLower(r) != r {
				pairs = append(pairs, string(r), string(unicode.ToLower(r)))
			}
		}
	}
	for r := rune('A'); r < 0x180; r++ { // Latin, its supplement and what Europe writes besides
		if unicode.IsUpper(r) && unicode.ToLower(r) != r {
			pairs = append(pairs, string(r), string(unicode.ToLower(r)))
		}
	}
	list := folded(t, pairs...)
	for i := 0; i < len(list); i += 2 {
		if list[i] != list[i+1] {
			t.Errorf("%s is compared as %q and %s as %q", pairs[i], list[i], pairs[i+1], list[i+1])
		}
	}
	if len(pairs) < 400 {
		t.Errorf("only %d letters were compared", len(pairs))
	}
}
