package turns_test

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/turns"
)

func TestErase_TakesTheRequestsOfOnePerson(t *testing.T) {
	t.Parallel()
	n := open(t).node()
	n.asks(5, turns.Request{Email: "ann@example.org"})
	n.asks(6, turns.Request{Email: "bob@example.org"})
	evening := []int64{int64(n.count(`SELECT id FROM event`))}
	in := func(do func(tx pgx.Tx) error) {
		t.Helper()
		if err := pgx.BeginFunc(t.Context(), n.db, do); err != nil {
			t.Fatal(err)
		}
	}
	exported := func(events []int64) (list []map[string]any) {
		in(func(tx pgx.Tx) error {
			text, err := turns.Export(t.Context(), tx, events, "ann@example.org")
			if err != nil {
				return err
			}
			return json.Unmarshal(text, &list)
		})
		return list
	}
	if list := exported(evening); len(list) != 1 || list[0]["email"] != "ann@example.org" || list[0]["room"] != "Evening" {
		t.Errorf("exported is %v", list)
	}
	if list := exported(nil); len(list) != 0 {
		t.Errorf("a team without the event reads %v", list)
	}
	in(func(tx pgx.Tx) error { return turns.Erase(t.Context(), tx, nil, "ann@example.org") })
	if rows := n.count(`SELECT count(*) FROM turn_request`); rows != 2 {
		t.Errorf("another team left %d requests", rows)
	}
	in(func(tx pgx.Tx) error { return turns.Erase(t.Context(), tx, evening, "ann@example.org") })
	if ann, all := n.count(`SELECT count(*) FROM turn_request WHERE email = 'ann@example.org'`), n.count(`SELECT count(*) FROM turn_request`); ann != 0 || all != 1 {
		t.Errorf("%d of %d requests are Ann's after she was erased", ann, all)
	}
	in(func(tx pgx.Tx) error { return turns.Erase(t.Context(), tx, evening, "") })
	if all := n.count(`SELECT count(*) FROM turn_request`); all != 0 {
		t.Errorf("%d requests are kept when all persons are erased", all)
	}
}

func TestErase_TakesTheBrowserOfThePersonsPlace(t *testing.T) {
	t.Parallel()
	n := open(t).node()
	n.asks(5, turns.Request{Email: "ann@example.org"})
	n.asks(5, newBrowser(t).request())
	n.asks(6, newBrowser(t).request())
	evening := []int64{int64(n.count(`SELECT id FROM event`))}
	if err := pgx.BeginFunc(t.Context(), n.db, func(tx pgx.Tx) error { return turns.Erase(t.Context(), tx, evening, "ann@example.org") }); err != nil {
		t.Fatal(err)
	}
	if hers, all := n.count(`SELECT count(*) FROM turn_request WHERE number = 5`), n.count(`SELECT count(*) FROM turn_request`); hers != 0 || all != 1 {
		t.Errorf("%d requests of her place and %d in all are kept, want 0 and 1", hers, all)
	}
}
