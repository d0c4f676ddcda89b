package webhooks_test

import (
	"slices"
	"testing"

	"github.com/usherbox/usher/seats/webhooks"
)

func TestPayout_TeamsThatShareTheAccountAreToldOfTheirOwnPart(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.hook(t, "http://example.org/mine", webhooks.PayoutCreated, webhooks.PayoutChanged)
	var other int64
	h.scan(t, &other, `INSERT INTO team (name) VALUES ('Others') RETURNING id`)
	h.exec(t, `INSERT INTO team (name) VALUES ('Strangers')`)
	h.exec(t, `INSERT INTO hook (team_id, url, kinds) SELECT id, 'http://example.org/theirs', '{payout.created,payout.changed}' FROM team WHERE name <> 'Box office'`)
	told := func() (list []string) {
		h.scan(t, &list, `SELECT coalesce(array_agg(h.team_id || ' ' || kind || ' ' || (data->>'payout') || ' ' || (data->>'status') || ' ' || (data->>'amount') ORDER BY n.at, h.team_id), '{}') FROM notice n JOIN hook h ON h.id = n.hook_id`)
		h.exec(t, `DELETE FROM notice`)
		return list
	}
	const payout = `INSERT INTO payout (id, team_id, teams, status, currency, amount, created_at, arrives_on, automatic) VALUES ($1, $2, $3, 'in_transit', 'EUR', 1000, now(), now(), true)`
	h.exec(t, payout, "po_own", h.ann.Team, []int64{h.ann.Team})
	if list := told(); !slices.Equal(list, []string{"1 payout.created po_own in_transit 1000"}) {
		t.Errorf("of a payout of one team is told %q", list)
	}
	h.exec(t, payout, "po_both", nil, []int64{})
	for i, team := range []int64{h.ann.Team, other} {
		h.exec(t, `INSERT INTO payout_line (id, payout_id, kind, type, source, at, amount, fee, net, charged, charged_currency, team_id) VALUES ('txn_' || $1::text, 'po_both', 'other', 'x', '', now(), $2::bigint, 10, $2::bigint - 10, 0, '', $3)`, []string{"a", "b"}[i], 300+400*i, team)
	}
	if list := told(); len(list) != 0 {
		t.Errorf("before its lines were read is told %q", list)
	}
	h.exec(t, `UPDATE payout SET teams = $1 WHERE id = 'po_both'`, []int64{h.ann.Team, other})
	if list := told(); !slices.Equal(list, []string{"1 payout.created po_both in_transit 290", "2 payout.created po_both in_transit 690"}) {
		t.Errorf("of a shared payout is told %q", list)
	}
	h.exec(t, `UPDATE payout SET status = 'paid', teams = teams`)
	if list := told(); len(list) != 3 || !slices.Contains(list, "1 payout.changed po_both paid 290") || !slices.Contains(list, "2 payout.changed po_both paid 690") {
		t.Errorf("of the new status is told %q", list)
	}
	h.exec(t, `UPDATE payout SET status = 'paid', teams = teams`)
	if list := told(); len(list) != 0 {
		t.Errorf("of no change is told %q", list)
	}
}
