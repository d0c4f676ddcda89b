package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A small file must not become large in memory, or take minutes.

func TestRecords_JSONThatIsTooDeepIsRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 100)
	for name, c := range map[string]struct{ file, want string }{
		"names in each other": {strings.Repeat(`{"`+long+`": `, 9_000) + "1" + strings.Repeat("}", 9_000), "more than 50 objects and lists stand in each other"},
		"lists in each other": {strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000), "more than 50 objects and lists stand in each other"},
		"one long name":       {`[{"` + strings.Repeat("n", 301) + `": 1, "x": 2}]`, "longer than 300 bytes"},
		"names that add up":   {strings.Repeat(`{"`+long+`": `, 4) + `[{"x": 1, "y": 2}]` + strings.Repeat("}", 4), "longer than 300 bytes"},
	} {
		_, err := Survey([]byte(c.file))
		var told *Error
		if !errors.As(err, &told) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	deep := strings.Repeat("[", 48) + `{"p": {"x": 1, "y": 2}}` + strings.Repeat("]", 48)
	if _, err := Survey([]byte(deep)); err != nil {
		t.Errorf("50 deep: %v", err)
	}
	if _, err := Read(strings.NewReader(strings.Replace(smallOwn, `"flags"`, fmt.Sprintf(`"extra": %s1%s, "flags"`, strings.Repeat("[", 60), strings.Repeat("]", 60)), 1))); err == nil || !strings.Contains(err.Error(), "stand in each other") {
		t.Errorf("in a document: %v", err)
	}
}

func TestAreas_OnAFormWithoutHeightHaveTheirPlaces(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]string{
		"rect":    `<rect width="100" height="0" data-capacity="5"/>`,
		"path":    `<path d="M0 0H10H5Z" data-capacity="5"/>`,
		"upright": `<path d="M0 0V10V5Z" data-capacity="5"/>`,
		"point":   `<path d="M3 3H3V3Z" data-capacity="5"/>`,
	} {
		r, err := Take([]byte(`<svg><circle class="seat" r="3"/><circle class="seat" cx="20" r="3"/>`+form+`</svg>`), "House", nil)
		if err != nil || len(r.Plan.Seats) != 7 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, file := range map[string]string{
		"document": swap(t, smallOwn, `[[0, 300], [200, 300], [200, 400], [0, 400]]`, `[[0, 300], [200, 300], [100, 300]]`),
		"seats.io": swap(t, smallSeatsio, `"points": [{"x": 0, "y": 30}, {"x": 60, "y": 30}, {"x": 60, "y": 60}]`, `"points": [{"x": 0, "y": 30}, {"x": 60, "y": 30}, {"x": 20, "y": 30}]`),
	} {
		if _, err := Read(strings.NewReader(file)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
