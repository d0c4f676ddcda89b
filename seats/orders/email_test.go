package orders_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
)

// asked asks to change the email of an order, and returns the request.
func (h *fixture) asked(t testing.TB, o orders.Order, email string) orders.EmailChange {
	t.Helper()
	if err := h.orders.ChangeEmail(t.Context(), o, seats.NewID().String(), email); err != nil {
		t.Fatal(err)
	}
	list, err := h.orders.EmailChanges(t.Context(), o.ID)
	if err != nil {
		t.Fatal(err)
	}
	return list[len(list)-1]
}

func (h *fixture) answer(t testing.TB, code string) orders.EmailChange {
	t.Helper()
	c, err := h.orders.AnswerEmailChange(t.Context(), code, true)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// boughtBy places an order of n places for an address.
func (h *fixture) boughtBy(t testing.TB, email string, n int) (orders.Order, error) {
	t.Helper()
	who := seats.NewID()
	f := h.form(t, who, n)
	f.Email, f.Verified = email, email
	code, err := h.orders.Place(t.Context(), h.sale, who, f)
	if err != nil {
		return orders.Order{}, err
	}
	return h.find(t, code), nil
}

func (h *fixture) mails(t testing.TB, kind string) int {
	t.Helper()
	return h.number(t, fmt.Sprintf(`SELECT count(*) FROM mail WHERE kind = '%s'`, kind))
}

func TestEmail_ChangesOnceBothAddressesAgreed(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	for i, oldFirst := range []bool{true, false} {
		o := h.ordered(t, 2)
		to := fmt.Sprintf("bea%d@example.org", i)
		c := h.asked(t, o, "  "+to+" ")
		if h.mails(t, orders.MailEmailAllow) != i+1 || h.mails(t, orders.MailEmailConfirm) != i+1 || c.From != "ann@example.org" || c.To != to || !c.Open() {
			t.Errorf("it is asked with %+v", c)
		}
		first, second := c.AllowCode, c.ConfirmCode
		if !oldFirst {
			first, second = second, first
		}
		for range 2 {
			if c := h.answer(t, first); !c.Open() || !c.Answered() || c.Allowed != oldFirst || c.Confirmed == oldFirst {
				t.Errorf("after the first yes: %+v", c)
			}
			if h.find(t, o.Code).Email != "ann@example.org" {
				t.Fatal("one of two addresses changed the email alone")
			}
		}
		sent := h.mails(t, orders.MailConfirmation)
		for range 2 {
			if c := h.answer(t, second); c.DoneAt == nil || c.Open() {
				t.Errorf("after the second yes: %+v", c)
			}
		}
		after := h.find(t, o.Code)
		if after.Email != to || after.Tickets[0].Code != o.Tickets[0].Code || h.mails(t, orders.MailConfirmation) != sent+1 {
			t.Errorf("the order has %q, and %d mails with tickets", after.Email, h.mails(t, orders.MailConfirmation)-sent)
		}
		h.wantBooks(t)
		if err := h.orders.Cancel(t.Context(), h.sale, after, "c"); err != nil {
			t.Fatal(err)
		}
		h.wantBooks(t)
	}
}

func TestEmail_RequestIsCheckedAndLimited(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	o := h.ordered(t, 1)
	for _, wrong := range []string{"", "bea", "ANN@example.org"} {
		var m orders.Mistakes
		if err := h.orders.ChangeEmail(t.Context(), o, "w"+wrong, wrong); !errors.As(err, &m) || m.About(orders.FieldEmail) == "" {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	for range 2 {
		if err := h.orders.ChangeEmail(t.Context(), o, "k", "bea@example.org"); err != nil {
			t.Fatal(err)
		}
	}
	if n := h.count(t, "email_change"); n != 1 {
		t.Errorf("a repeat made %d requests", n)
	}
	wantConflict(t, h.orders.ChangeEmail(t.Context(), o, "k", "cid@example.org"), orders.CodeKey)
	h.asked(t, o, "cid@example.org")
	h.asked(t, o, "dan@example.org")
	wantConflict(t, h.orders.ChangeEmail(t.Context(), o, "l", "eva@example.org"), orders.CodeOften)
	h.exec(t, `UPDATE email_change SET asked_at = asked_at - interval '1 day'`)
	h.asked(t, o, "eva@example.org")

	office := h.soldAtOffice(t, orders.OfficeForm{Key: "k", Seats: []int{90}, Method: payments.Cash, Name: "Ann"})
	wantConflict(t, h.orders.ChangeEmail(t.Context(), office, "m", "bea@example.org"), orders.CodeStarted)
}

func TestEmail_RequestEnds(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	for name, end := range map[string]func(o orders.Order, c orders.EmailChange) string{
		"by another request": func(o orders.Order, _ orders.EmailChange) string {
			h.asked(t, o, "cid@example.org")
			return orders.CodeOver
		},
		"after a day": func(_ orders.Order, c orders.EmailChange) string {
			h.exec(t, `UPDATE email_change SET ends_at = clock_timestamp() WHERE id = $1`, c.ID)
			return orders.CodeOver
		},
		"by the buyer": func(o orders.Order, _ orders.EmailChange) string {
			if err := h.orders.StopEmailChange(t.Context(), o); err != nil {
				t.Error(err)
			}
			return orders.CodeOver
		},
		"by the old address": func(_ orders.Order, c orders.EmailChange) string {
			for range 2 {
				if c, err := h.orders.AnswerEmailChange(t.Context(), c.AllowCode, false); err != nil || !c.Over {
					t.Errorf("%v, %v", c, err)
				}
			}
			return orders.CodeOver
		},
		"with the order": func(o orders.Order, _ orders.EmailChange) string {
			if err := h.orders.Revoke(t.Context(), h.sale, o, false); err != nil {
				t.Error(err)
			}
			return orders.CodeStarted
		},
	} {
		o := h.ordered(t, 1)
		c := h.asked(t, o, "bea@example.org")
		h.answer(t, c.AllowCode)
		code := end(o, c)
		_, err := h.orders.AnswerEmailChange(t.Context(), c.ConfirmCode, true)
		if t.Run(name, func(t *testing.T) { wantConflict(t, err, code) }); h.find(t, o.Code).Email != "ann@example.org" {
			t.Errorf("%s: it was changed all the same", name)
		}
		h.exec(t, `UPDATE email_change SET over_at = coalesce(over_at, clock_timestamp())`)
		if o = h.find(t, o.Code); o.State == orders.Confirmed {
			if err := h.orders.Revoke(t.Context(), h.sale, o, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := h.orders.AnswerEmailChange(t.Context(), "x", true); !errors.Is(err, orders.ErrNoEmailChange) {
		t.Errorf("a link of nothing: %v", err)
	}
	h.wantBooks(t)
}

func TestEmail_RefusingADoneChangeSaysSo(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	c := h.asked(t, h.ordered(t, 1), "bea@example.org")
	h.answer(t, c.AllowCode)
	h.answer(t, c.ConfirmCode)
	_, err := h.orders.AnswerEmailChange(t.Context(), c.AllowCode, false)
	wantConflict(t, err, orders.CodeAccepted)
}

func TestEmail_NewPersonKeepsTheLimit(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 3})
	o, err := h.boughtBy(t, "ann@example.org", 2)
	if err != nil {
		t.Fatal(err)
	}
	c := h.asked(t, o, "bea@example.org") // who has none yet
	h.answer(t, c.AllowCode)
	if _, err := h.boughtBy(t, "B.E.A+x@example.org", 2); err != nil { // another mailbox
		t.Fatal(err)
	}
	if _, err := h.boughtBy(t, "bea+x@example.org", 2); err != nil {
		t.Fatal(err)
	}
	_, err = h.orders.AnswerEmailChange(t.Context(), c.ConfirmCode, true)
	wantConflict(t, err, seats.CodePerson)
	wantConflict(t, h.orders.ChangeEmail(t.Context(), o, "k", "bea@example.org"), seats.CodePerson)
	if after := h.find(t, o.Code); after.Email != "ann@example.org" {
		t.Errorf("it has %q", after.Email)
	}
	h.wantBooks(t)

	c = h.asked(t, o, "cid@example.org")
	h.answer(t, c.ConfirmCode)
	h.answer(t, c.AllowCode)
	h.wantBooks(t)
	_, err = h.boughtBy(t, "cid@example.org", 2)
	wantConflict(t, err, seats.CodePerson)
	if _, err := h.boughtBy(t, "ann@example.org", 3); err != nil {
		t.Errorf("the tickets still count for the old address: %v", err)
	}
	h.wantBooks(t)
}

func TestEmail_OtherSpellingOfAMailboxCountsOnce(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 2})
	o, err := h.boughtBy(t, "ann@example.org", 2)
	if err != nil {
		t.Fatal(err)
	}
	c := h.asked(t, o, "ann+tickets@example.org")
	h.answer(t, c.AllowCode)
	h.answer(t, c.ConfirmCode)
	if after := h.find(t, o.Code); after.Email != "ann+tickets@example.org" {
		t.Errorf("it has %q", after.Email)
	}
	h.wantBooks(t)
}

func TestEmail_UnpaidOrderKeepsItsAddress(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	o := h.later(t, "ann@example.org", 1)
	wantConflict(t, h.orders.ChangeEmail(t.Context(), o, "k", "bea@example.org"), orders.CodeUnpaid)
}

func TestEmail_ManyAtOnceAgreeToOne(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	o := h.ordered(t, 2)
	var crowd sync.WaitGroup
	for i := range 3 {
		crowd.Go(func() {
			if err := h.orders.ChangeEmail(t.Context(), o, fmt.Sprint(i), fmt.Sprintf("bea%d@example.org", i)); err != nil {
				t.Error(err)
			}
		})
	}
	crowd.Wait()
	if n := h.number(t, `SELECT count(*) FROM email_change WHERE over_at IS NULL`); n != 1 {
		t.Fatalf("%d requests are open", n)
	}
	list, err := h.orders.EmailChanges(t.Context(), o.ID)
	if err != nil {
		t.Fatal(err)
	}
	sent := h.mails(t, orders.MailConfirmation)
	for _, c := range list {
		for range 8 {
			for _, code := range []string{c.AllowCode, c.ConfirmCode} {
				crowd.Go(func() {
					var refusal *seats.Conflict
					if _, err := h.orders.AnswerEmailChange(t.Context(), code, true); err != nil && (!c.Over || !errors.As(err, &refusal)) {
						t.Error(err)
					}
				})
			}
		}
	}
	crowd.Wait()
	if after := h.find(t, o.Code); !strings.HasPrefix(after.Email, "bea") || h.mails(t, orders.MailConfirmation) != sent+1 {
		t.Errorf("it has %q, and %d mails with tickets went out", after.Email, h.mails(t, orders.MailConfirmation)-sent)
	}
	h.wantBooks(t)
}

func TestEmail_ConfirmAgainstCancel(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 20})
	if _, err := h.boughtBy(t, "ann@example.org", 3); err != nil { // the counts of both persons stay above zero
		t.Fatal(err)
	}
	if _, err := h.boughtBy(t, "bea@example.org", 3); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		o, err := h.boughtBy(t, "ann@example.org", 2)
		if err != nil {
			t.Fatal(err)
		}
		c := h.asked(t, o, "bea@example.org")
		h.answer(t, c.AllowCode)
		var crowd sync.WaitGroup
		var refusal *seats.Conflict
		crowd.Go(func() {
			if _, err := h.orders.AnswerEmailChange(t.Context(), c.ConfirmCode, true); err != nil && !errors.As(err, &refusal) {
				t.Error(err)
			}
		})
		var cancelled error
		crowd.Go(func() { cancelled = h.orders.Cancel(t.Context(), h.sale, o, "c", o.Tickets[0].ID) })
		crowd.Wait()
		if cancelled != nil && !errors.As(cancelled, &refusal) {
			t.Error(cancelled)
		}
		h.wantBooks(t)
		if err := h.orders.Revoke(t.Context(), h.sale, h.find(t, o.Code), false); err != nil {
			t.Fatal(err)
		}
	}
	h.wantBooks(t)
}

func TestEmail_CancellationOfWhatWasReadBeforeIsRefused(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	o := h.ordered(t, 2)
	c := h.asked(t, o, "bea@example.org")
	h.answer(t, c.AllowCode)
	h.answer(t, c.ConfirmCode)
	wantConflict(t, h.orders.Cancel(t.Context(), h.sale, o, "c"), seats.CodeChanged)
	if v := h.scan(t, h.door(t), orders.Scan{Key: "k", Code: o.Tickets[0].Code}); v.Word != orders.ScanIn {
		t.Errorf("after a refused cancellation the door says %s", v.Word)
	}
	h.wantBooks(t)
}

// The address of an order does not collect what a presale gives to several persons.
func TestEmail_PresaleLimitOfOnePersonHolds(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 6})
	bea, err := h.boughtBy(t, "bea@example.org", 2)
	if err != nil {
		t.Fatal(err)
	}
	ann, err := h.boughtBy(t, "ann@example.org", 2)
	if err != nil {
		t.Fatal(err)
	}
	h.exec(t, `INSERT INTO code (id, event_id, code, name, percent, amount, per_order, types, categories, tickets, most, per_person, presale, person_tickets)
		SELECT gen_random_uuid(), id, 'FRIENDS', '', 0, 0, false, '{}', '{}', 0, 0, 0, true, 2 FROM event`)
	h.exec(t, `INSERT INTO seat_code (event_id, idx, holder, code, early) SELECT t.event_id, t.idx, t.order_id, c.id, true FROM ticket t, code c`)
	opens := func(when string) { h.exec(t, `UPDATE event SET opens_at = clock_timestamp() + interval '`+when+`'`) }
	opens("1 hour")
	c := h.asked(t, ann, "cid@example.org") // who has none
	h.answer(t, c.AllowCode)
	if _, err := h.orders.AnswerEmailChange(t.Context(), c.ConfirmCode, true); err != nil {
		t.Errorf("a person without tickets: %v", err)
	}
	ann = h.find(t, ann.Code)
	err = h.orders.ChangeEmail(t.Context(), ann, "k", bea.Email)
	wantConflict(t, err, seats.CodePerson)
	if err == nil || !strings.Contains(err.Error(), "In the presale you can book up to") {
		t.Errorf("it is refused with %v", err)
	}
	opens("-1 hour")
	c = h.asked(t, ann, bea.Email)
	h.answer(t, c.AllowCode)
	opens("1 hour") // the sale is moved between the two answers
	_, err = h.orders.AnswerEmailChange(t.Context(), c.ConfirmCode, true)
	wantConflict(t, err, seats.CodePerson)
	if after := h.find(t, ann.Code); after.Email != "cid@example.org" {
		t.Errorf("it has %q", after.Email)
	}
	opens("-1 hour")
	h.answer(t, c.ConfirmCode)
	h.wantBooks(t)
}
