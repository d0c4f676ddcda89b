package plan_test

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/plan"
)

func TestRead_TellsWhereTablesAndDrawingsGoWithoutWordsOfGo(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		`<svg xmlns="http://www.w3.org/2000/svg"/>`: "imported on the page Plans",
		"section,row,number\nStalls,A,1\n":          "imported on the page Plans",
		`{"format": "usher-plan/1",}`:               "this is not JSON from here on",
	} {
		_, err := plan.Read(strings.NewReader(file))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "invalid character") {
			t.Errorf("%q: %v, want %q", file, err, want)
		}
	}
}
