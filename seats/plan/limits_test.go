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
