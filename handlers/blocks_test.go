package handlers

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// An organizer keeps seats for the press until a day, sells some with a code, and puts the rest on sale.
func TestBlocks_AreKeptChangedSoldWithACodeAndPutOnSale(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	const at = "/desk/events/evening"
	s.does(t, ann, at+"/blocks", url.Values{"seats": {"Floor/1-4"}, "kind": {"press"}, "owner": {"Die <Zeit>"}, "reason": {"Premiere"}, "ends_at": {"2030-05-01T10:00"}})
	read := func() (list []map[string]any) {
		t.Helper()
		_, body := send(t, ann, "GET", s.url+at+"/blocks", "", "Accept", "application/json")
		var got struct{ Blocks []map[string]any }
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		return got.Blocks
	}
	list := read()
	if len(list) != 1 || list[0]["seats"] != 4.0 || list[0]["kind"] != "press" || list[0]["ends_at"] == nil {
		t.Fatalf("the list is %v", list)
	}
	id := list[0]["id"].(string)
	_, page := s.page(t, ann, at+"/blocks")
	for _, want := range []string{"Die &lt;Zeit&gt;", "Premiere", "Press", "4 of 4 left", "On sale again"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if _, page := s.page(t, ann, at+"/codes?unlocks_blocks="+id); !strings.Contains(page, `value="`+id+`" checked`) {
		t.Error("the block is not chosen on the page of codes")
	}
	s.refused(t, ann, at+"/blocks/"+id, url.Values{"owner": {"typed"}, "ends_at": {"2001-01-01T10:00"}}, 422, "over already", "typed")
	s.refused(t, ann, at+"/blocks/"+id, url.Values{"kind": {"moon"}}, 422, "no such kind")
	s.does(t, ann, at+"/blocks/"+id, url.Values{"kind": {"house"}, "owner": {"Front of house"}})
	if list = read(); list[0]["kind"] != "house" || list[0]["ends_at"] != nil || list[0]["reason"] != "" {
		t.Errorf("after the change the list is %v", list)
	}
	s.does(t, ann, at+"/unblocks", url.Values{"block": {id}})
	if list = read(); len(list) != 0 {
		t.Errorf("after the seats are on sale the list is %v", list)
	}
	s.refused(t, ann, at+"/unblocks", url.Values{"block": {id}}, 422, "No seat was chosen")
}
