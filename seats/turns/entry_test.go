package turns_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/usherbox/usher/seats/turns"
)

func TestAskEntry_BrowsersAtOnceAreFiveAtMost(t *testing.T) {
	t.Parallel()
	n := open(t).node()
	n.exec(`INSERT INTO entry (event_id, code, email, quantity, together, fewer, rank, state, waits_since)
		SELECT id, 'code', 'ann@example.org', 1, true, false, 1, 'waiting', clock_timestamp() FROM event`)
	n.exec(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.1); RETURN NEW; END $$`)
	n.exec(`CREATE TRIGGER slow BEFORE INSERT ON turn_request FOR EACH ROW EXECUTE FUNCTION slow()`)
	entry := int64(n.count(`SELECT id FROM entry`))
	errs := make([]error, 8)
	var browsers sync.WaitGroup
	for i := range errs {
		r := newBrowser(t).request()
		r.Endpoint += fmt.Sprint("/", i)
		browsers.Go(func() { errs[i] = n.AskEntry(context.WithoutCancel(t.Context()), entry, r) })
	}
	browsers.Wait()
	refused := 0
	for _, err := range errs {
		if errors.Is(err, turns.ErrMany) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	if told := n.count(`SELECT count(*) FROM turn_request`); told != 5 || refused != 3 {
		t.Errorf("%d browsers are told, %d were refused", told, refused)
	}
	n.exec(`UPDATE entry SET state = 'left'`)
	if err := n.AskEntry(t.Context(), entry, newBrowser(t).request()); !errors.Is(err, turns.ErrEnded) {
		t.Errorf("an entry that ended: %v", err)
	}
	if err := n.AskEntry(t.Context(), entry+1, newBrowser(t).request()); !errors.Is(err, turns.ErrEnded) {
		t.Errorf("no entry: %v", err)
	}
}
