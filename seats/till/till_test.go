package till_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/till"
)

func TestReport_IsWhatWasSoldPaidInAndPaidOut(t *testing.T) {
	t.Parallel()
	h := open(t)
	s := h.opened(t, h.dora)
	one, two, card := h.sold(t, s.ID, "", "", 0, 1), h.sold(t, s.ID, "", "", 2), h.sold(t, s.ID, payments.Terminal, "Twint", 3)
	h.sold(t, s.ID, payments.Free, "", 4)
	for _, v := range []till.Moving{{Kind: till.In, Amount: 50_00, Reason: "change"}, {Kind: till.Out, Amount: 30_00, Reason: "flowers"}} {
		if err := till.Add(t.Context(), h.desk, h.dora, string(v.Kind), s.ID, v); err != nil {
			t.Fatal(err)
		}
	}
	cash := 200_00 + one.Total + two.Total + 50_00 - 30_00
	if got := h.found(t, h.dora, s.ID); got.Cash() != cash || got.Turnover() != one.Total+two.Total+card.Total || got.Tickets() != 5 || len(got.Moves) != 2 {
		t.Errorf("the session is %+v, with %d in cash instead of %d", got, got.Cash(), cash)
	}
	closed := h.close(t, h.dora, s.ID, cash-5_00)
	if closed.Number != 1 || closed.Expected != cash || closed.Difference() != -5_00 || closed.Taken != one.Total+two.Total+card.Total || closed.Day == "" {
		t.Errorf("the report is %+v", closed)
	}
	names := ""
	for _, l := range closed.Lines {
		names += string(l.Kind) + " " + l.Method + " " + l.Name + ","
	}
	if want := "sale cash ,sale free ,sale terminal Twint,in cash ,out cash ,"; names != want {
		t.Errorf("its lines are %q instead of %q", names, want)
	}
	days, err := till.DayOf(t.Context(), h.desk, h.ann, closed.Day)
	if err != nil || len(days) != 1 || days[0].Sum.Expected != cash || len(days[0].Sessions) != 1 || len(days[0].Sum.Lines) != len(closed.Lines) {
		t.Errorf("the day is %+v, %v", days, err)
	}
}

func TestSession_IsOneOfAPersonAndTakesNothingOnceClosed(t *testing.T) {
	t.Parallel()
	h := open(t)
	s := h.opened(t, h.dora)
	var refusal *seats.Conflict
	if err := till.Open(t.Context(), h.desk, h.dora, "again", till.Opening{Currency: s.Currency, Zone: "UTC"}); !errors.As(err, &refusal) || refusal.Code != till.CodeOpen {
		t.Errorf("a second one: %v", err)
	}
	if err := till.Add(t.Context(), h.desk, h.dora, "more", s.ID, till.Moving{Kind: till.Out, Amount: 200_01, Reason: "x"}); !errors.As(err, &refusal) || refusal.Code != till.CodeMoney {
		t.Errorf("more than there is: %v", err)
	}
	var wrong *seats.ValidationError
	for _, v := range []till.Moving{{Kind: till.Out, Amount: 1}, {Kind: till.Sale, Amount: 1, Reason: "x"}, {Kind: till.In, Amount: -1, Reason: "x"}} {
		if err := till.Add(t.Context(), h.desk, h.dora, "bad", s.ID, v); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", v, err)
		}
	}
	h.close(t, h.dora, s.ID, 200_00)
	if err := till.Add(t.Context(), h.desk, h.dora, "late", s.ID, till.Moving{Kind: till.In, Amount: 1, Reason: "x"}); !errors.As(err, &refusal) || refusal.Code != till.CodeClosed {
		t.Errorf("after the closing: %v", err)
	}
	if err := till.Close(t.Context(), h.desk, h.dora, "twice", s.ID, till.Closing{}); !errors.As(err, &refusal) || refusal.Code != till.CodeClosed {
		t.Errorf("another closing: %v", err)
	}
	for _, sql := range []string{
		`UPDATE till_session SET counted = 1`, `DELETE FROM till_session`, `UPDATE till_entry SET amount = 1`, `DELETE FROM till_entry`, `TRUNCATE till_entry`,
	} {
		if _, err := h.db.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "never changed") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestSale_OfASessionClosedMeanwhileGoesToTheNextOne(t *testing.T) {
	t.Parallel()
	h := open(t)
	s := h.opened(t, h.dora)
	closed := h.close(t, h.dora, s.ID, 200_00)
	late := h.sold(t, s.ID, "", "", 0)
	list, err := till.Current(t.Context(), h.desk, h.dora)
	if err != nil || len(list) != 1 || list[0].Opening != 0 {
		t.Fatalf("open are %+v, %v", list, err)
	}
	if next := h.found(t, h.dora, list[0].ID); next.Cash() != late.Total {
		t.Errorf("the next session has %d", next.Cash())
	}
	if again := h.found(t, h.dora, s.ID); again.Expected != closed.Expected || len(again.Lines) != 0 {
		t.Errorf("the closed one changed: %+v", again)
	}
}

func TestReports_AreNumberedWithoutAGap(t *testing.T) {
	t.Parallel()
	h := open(t)
	people := make([]organizers.Member, 6)
	open := make([]till.Session, len(people))
	for i := range people {
		people[i] = h.member(t, "p"+string(rune('a'+i)), organizers.Till)
		open[i] = h.opened(t, people[i])
	}
	var closing sync.WaitGroup
	for i := range people {
		closing.Go(func() {
			if err := till.Close(t.Context(), h.desk, people[i], "z", open[i].ID, till.Closing{Counted: 200_00}); err != nil {
				t.Error(err)
			}
		})
	}
	closing.Wait()
	var n, last int
	if err := h.db.QueryRow(t.Context(), `SELECT count(*), max(number) FROM till_session`).Scan(&n, &last); err != nil || n != len(people) || last != n {
		t.Errorf("%d reports end with number %d: %v", n, last, err)
	}
}

func TestSession_OfAnotherIsSeenByThoseWhoMayLook(t *testing.T) {
	t.Parallel()
	h := open(t)
	own, other := h.opened(t, h.dora), h.opened(t, h.ann)
	if _, err := till.Find(t.Context(), h.desk, h.ann, own.ID); err != nil {
		t.Errorf("the owner: %v", err)
	}
	var wrong *seats.ValidationError
	if _, err := till.Find(t.Context(), h.desk, h.dora, other.ID); !errors.As(err, &wrong) || !wrong.Unknown {
		t.Errorf("a member of the door sees the drawer of another: %v", err)
	}
	if list, err := till.Latest(t.Context(), h.desk, h.dora); err != nil || len(list) != 1 || list[0].ID != own.ID {
		t.Errorf("and lists %+v, %v", list, err)
	}
	if err := till.Close(t.Context(), h.desk, h.ann, "z", own.ID, till.Closing{}); !errors.As(err, &wrong) {
		t.Errorf("the owner closes the drawer of another: %v", err)
	}
}

func TestSelling_AsksForASessionWhereTheTeamDoes(t *testing.T) {
	t.Parallel()
	h := open(t)
	currency := h.sale.Event.Currency
	if id, err := till.Selling(t.Context(), h.desk, h.dora, currency, ""); id != 0 || err != nil {
		t.Errorf("without a session: %d, %v", id, err)
	}
	if err := till.Set(t.Context(), h.desk, h.ann, "set", till.Settings{Required: true, Methods: []string{" Twint ", ""}}); err != nil {
		t.Fatal(err)
	}
	var refusal *seats.Conflict
	if _, err := till.Selling(t.Context(), h.desk, h.dora, currency, "Twint"); !errors.As(err, &refusal) || refusal.Code != till.CodeClosed {
		t.Errorf("a closed till: %v", err)
	}
	s := h.opened(t, h.dora)
	if id, err := till.Selling(t.Context(), h.desk, h.dora, currency, "Twint"); id != s.ID || err != nil {
		t.Errorf("an open one: %d, %v", id, err)
	}
	var wrong *seats.ValidationError
	if _, err := till.Selling(t.Context(), h.desk, h.dora, currency, "Pebbles"); !errors.As(err, &wrong) {
		t.Errorf("a way to pay that the team does not have: %v", err)
	}
}
