package shop

import (
	"testing"

	"github.com/usherbox/usher/seats/plan"
)

func TestObjects_EachHasASign(t *testing.T) {
	t.Parallel()
	for _, role := range plan.Objects {
		if Objects[role] == "" {
			t.Errorf("an icon of %s is drawn as nothing", role)
		}
	}
	if len(Objects) != len(plan.Objects) {
		t.Errorf("%d signs for %d objects", len(Objects), len(plan.Objects))
	}
}
