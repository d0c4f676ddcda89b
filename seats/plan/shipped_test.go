package plan

import (
	"os"
	"reflect"
	"testing"
)

func TestShippedFiles_AreThePlansThatTheGeneratorsDraw(t *testing.T) {
	t.Parallel()
	for name, draw := range shipped {
		want, err := draw().plan()
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open("shipped/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got, err := Read(f); err != nil || !reflect.DeepEqual(got.Plan, want) || len(got.Repairs)+len(got.Warnings) > 0 {
			t.Errorf("%s.json is another plan: %v", name, err)
		}
	}
}
