package desk

import (
	"slices"
	"testing"

	"github.com/usherbox/usher/seats/organizers"
)

func TestTheNavigationLeadsOnlyWhereOneMayGo(t *testing.T) {
	t.Parallel()
	for role, hidden := range map[organizers.Role][]string{organizers.Owner: {}, organizers.Manager: {}, organizers.Viewer: {"Log"}, organizers.Till: {"Team", "Log"}} {
		d, shown := Frame{Member: organizers.Member{Role: role}, Path: Path}, map[string]bool{}
		for _, l := range append(d.main(), d.settings()...) {
			shown[l.name] = true
		}
		for _, name := range []string{"Events", "Team", "Log"} {
			if shown[name] == slices.Contains(hidden, name) {
				t.Errorf("%s is led to %v", role, d.main())
			}
		}
	}
}
