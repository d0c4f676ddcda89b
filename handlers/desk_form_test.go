package handlers

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/seats/organizers"
)

func TestKeysOfTheDeskThatDifferAreTwoHoweverLongTheyAre(t *testing.T) {
	t.Parallel()
	of := organizers.Member{Organizer: 1<<63 - 1}
	for _, length := range []int{1, 150, 151, 200} {
		alike := strings.Repeat("x", length-1)
		one, other := desk.MemberKey(of, alike+"1"), desk.MemberKey(of, alike+"2")
		if one == other || one != desk.MemberKey(of, alike+"1") || len(one) > 200 {
			t.Errorf("two keys of %d letters become %q and %q", length, one, other)
		}
	}
}
