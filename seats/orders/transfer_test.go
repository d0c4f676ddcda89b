package orders_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
)

// pair is an order with two tickets, a door, and what is done to them.
type pair struct {
	*fixture
	t    *testing.T
	code string
	door orders.Doorway
	n    int
}

func sending(t *testing.T) *pair {
	t.Helper()
	h := open(t, "theatre", events.Settings{})
	o := h.soldAtOffice(t, orders.OfficeForm{Key: "k", Seats: []int{0, 1}, Method: payments.Terminal, Name: "Ann", Email: "ann@example.org"})
	secret, err := h.orders.OpenDoor(t.Context(), "evening", nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{fixture: h, t: t, code: o.Code}
	if p.door, err = h.orders.Doorway(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	return p
}

// key is one that no form had.
func (p *pair) key() string { p.n++; return string(rune('a' + p.n)) }

func (p *pair) order() orders.Order { p.t.Helper(); return p.find(p.t, p.code) }

// offer offers the order's ticket for a seat, and returns the code of the link.
func (p *pair) offer(seat int, email string) string {
	p.t.Helper()
	return p.offerOf(p.order(), seat, email)
}

func (p *pair) offerOf(o orders.Order, seat int, email string) string {
	p.t.Helper()
	if err := p.orders.Offer(p.t.Context(), o, p.key(), of(o, seat).ID, email); err != nil {
		p.t.Fatal(err)
	}
	var code string
	if err := p.db.QueryRow(p.t.Context(), `SELECT code FROM ticket_transfer WHERE ticket_id = $1 AND accepted_at IS NULL AND withdrawn_at IS NULL`, of(o, seat).ID).Scan(&code); err != nil {
		p.t.Fatal(err)
	}
	return code
}

func of(o orders.Order, seat int) orders.Ticket {
	for _, t := range o.Tickets {
		if t.Idx == seat {
			return t
		}
	}
	return orders.Ticket{}
}

// accepted is the order as a friend sees it, who accepted a ticket.
func (p *pair) accepted(code, name string) orders.Order {
	p.t.Helper()
	ticket, err := p.orders.Accept(p.t.Context(), code, orders.Acceptance{Key: p.key(), Name: name, Email: name + "@example.org"})
	if err != nil {
		p.t.Fatal(err)
	}
	seen, err := p.orders.ReceivedTicket(p.t.Context(), ticket)
	if err != nil {
		p.t.Fatal(err)
	}
	return seen
}

func (p *pair) wantScan(code, word, name string) {
	p.t.Helper()
	v, err := p.orders.Scan(p.t.Context(), p.door, orders.Scan{Key: p.key() + code, Code: code})
	if err != nil || v.Word != word || name != "" && v.Name != name {
		p.t.Errorf("the door says %q of %q, %v; want %q of %q", v.Word, v.Name, err, word, name)
	}
}

func wantConflict(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *seats.Conflict
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Errorf("got %v, want a conflict %q", err, code)
	}
}

func TestTransfer_OldCodeEndsWhenTheFriendAccepts(t *testing.T) {
	t.Parallel()
	p := sending(t)
	old := of(p.order(), 0)
	offer := p.offer(0, "bea@example.org")
	if o := of(p.order(), 0); o.Code != old.Code || o.Offer == nil || o.Offer.To != "bea@example.org" || p.count(t, "mail WHERE kind = 'ticket-offer'") != 1 {
		t.Fatalf("offered, the ticket is %+v", o)
	}
	wantConflict(t, p.orders.Offer(t.Context(), p.order(), p.key(), old.ID, ""), orders.CodeSent)
	bea := p.accepted(offer, "Bea")
	if len(bea.Tickets) != 1 || bea.Tickets[0].Code == "" || bea.Tickets[0].Code == old.Code || bea.Name != "Bea" || bea.Due() != 0 || bea.Holder != (seats.ID{}) {
		t.Fatalf("the friend sees %+v", bea)
	}
	after := p.order()
	if got := of(after, 0); got.Code != "" || got.Friend == nil || got.Friend.Name != "Bea" || got.Revoked || after.Total != 2*old.Cost() || after.Due() != 0 {
		t.Fatalf("the buyer sees %+v", got)
	}
	if p.count(t, "mail WHERE kind = 'ticket'") != 1 {
		t.Error("the friend got no mail with the ticket")
	}
	p.wantScan(old.Code, orders.ScanRevoked, "")
	p.wantScan(p.code, orders.ScanIn, "Ann") // the code of the order is for the only ticket that is the buyer's
	p.wantScan(bea.Tickets[0].Code, orders.ScanIn, "Bea")
	p.wantScan(bea.Code, orders.ScanAgain, "Bea")
	p.wantBooks(t)
}

func TestTransfer_OneOf64GetsTheTicket(t *testing.T) {
	t.Parallel()
	p := sending(t)
	offer := p.offer(0, "")
	var won, refused atomic.Int32
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			_, err := p.orders.Accept(t.Context(), offer, orders.Acceptance{Key: string(rune('A' + i)), Name: "Bea", Email: "bea@example.org"})
			var refusal *seats.Conflict
			switch {
			case err == nil:
				won.Add(1)
			case errors.As(err, &refusal) && refusal.Code == orders.CodeAccepted:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 || refused.Load() != 63 || p.count(t, "ticket WHERE idx = 0 AND revoked_at IS NULL") != 1 {
		t.Errorf("%d got the ticket, %d were refused", won.Load(), refused.Load())
	}
	p.wantBooks(t)
}

func TestTransfer_RepeatGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	p := sending(t)
	o := p.order()
	for range 2 {
		if err := p.orders.Offer(t.Context(), o, "offer", o.Tickets[0].ID, "bea@example.org"); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := p.orders.Withdraw(t.Context(), o, "withdraw", o.Tickets[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	offer, codes := p.offer(0, ""), map[string]bool{}
	for range 2 {
		code, err := p.orders.Accept(t.Context(), offer, orders.Acceptance{Key: "accept", Name: " Bea ", Email: "bea@example.org"})
		if err != nil {
			t.Fatal(err)
		}
		codes[code] = true
	}
	if len(codes) != 1 || p.count(t, "ticket_transfer") != 2 || p.count(t, "mail WHERE kind LIKE 'ticket%'") != 2 {
		t.Errorf("a repeat changed something: %v", codes)
	}
	_, err := p.orders.Accept(t.Context(), offer, orders.Acceptance{Key: "accept", Name: "Cid", Email: "cid@example.org"})
	wantConflict(t, err, orders.CodeKey)
}

func TestTransfer_TakenBackItIsNotAccepted(t *testing.T) {
	t.Parallel()
	p := sending(t)
	old := of(p.order(), 0)
	offer := p.offer(0, "bea@example.org")
	if err := p.orders.Withdraw(t.Context(), p.order(), p.key(), old.ID); err != nil {
		t.Fatal(err)
	}
	_, err := p.orders.Accept(t.Context(), offer, orders.Acceptance{Key: "k", Name: "Bea", Email: "bea@example.org"})
	wantConflict(t, err, orders.CodeWithdrawn)
	second := p.offer(0, "")
	bea := p.accepted(second, "Bea")
	wantConflict(t, p.orders.Withdraw(t.Context(), p.order(), p.key(), bea.Tickets[0].ID), orders.CodeSent)
	p.wantScan(old.Code, orders.ScanRevoked, "")
}

func TestTransfer_TheFriendSendsItOn(t *testing.T) {
	t.Parallel()
	p := sending(t)
	bea := p.accepted(p.offer(0, ""), "Bea")
	offer := p.offerOf(bea, 0, "")
	if o := of(p.order(), 0); o.Offer != nil || o.Friend == nil {
		t.Errorf("the buyer sees an offer of the friend: %+v", o)
	}
	if sent, _, err := p.orders.Offered(t.Context(), offer); err != nil || sent.From != "Bea" {
		t.Errorf("the offer comes from %q, %v", sent.From, err)
	}
	cid := p.accepted(offer, "Cid")
	again, err := p.orders.ReceivedTicket(t.Context(), bea.Code)
	if err != nil || len(again.Tickets) != 0 || again.State != orders.Cancelled {
		t.Errorf("the first friend sees %+v, %v", again, err)
	}
	p.wantScan(bea.Tickets[0].Code, orders.ScanRevoked, "")
	p.wantScan(cid.Tickets[0].Code, orders.ScanIn, "Cid")
	coming, past, err := p.orders.OfEmail(t.Context(), "cid@example.org", 0)
	if list := append(coming, past...); err != nil || len(list) != 1 || !list[0].Received || list[0].Code != cid.Code || list[0].Tickets != 1 {
		t.Errorf("found by email: %+v, %v", list, err)
	}
	if list, _, err := p.orders.OfEmail(t.Context(), "bea@example.org", 0); err != nil || len(list) != 0 {
		t.Errorf("found by the email of who sent it on: %+v, %v", list, err)
	}
	p.wantBooks(t)
}

// A cancellation that read the order before its ticket was accepted must not free the seat of the friend.
func TestTransfer_AnOlderCancellationLeavesTheFriendTheSeat(t *testing.T) {
	t.Parallel()
	p := sending(t)
	before := p.order()
	bea := p.accepted(p.offer(0, ""), "Bea")
	wantConflict(t, p.orders.Revoke(t.Context(), p.sale, before, false, of(before, 0).ID), seats.CodeChanged)
	wantConflict(t, p.orders.Revoke(t.Context(), p.sale, before, false), seats.CodeChanged)
	p.wantScan(bea.Tickets[0].Code, orders.ScanIn, "Bea")
	p.wantBooks(t)
}

func TestTransfer_CancelledOrAcceptedButNotBoth(t *testing.T) {
	t.Parallel()
	for range 8 {
		p := sending(t)
		before := p.order()
		offer := p.offer(0, "")
		var all sync.WaitGroup
		var cancelled, accepted error
		all.Go(func() { cancelled = p.orders.Revoke(t.Context(), p.sale, before, false, of(before, 0).ID) })
		all.Go(func() {
			_, accepted = p.orders.Accept(t.Context(), offer, orders.Acceptance{Key: "k", Name: "Bea", Email: "bea@example.org"})
		})
		all.Wait()
		if (cancelled == nil) == (accepted == nil) {
			t.Errorf("cancelled: %v; accepted: %v", cancelled, accepted)
		}
		p.wantBooks(t)
	}
}

func TestTransfer_TheBuyerCancelsOnlyWhatIsTheirs(t *testing.T) {
	t.Parallel()
	p := sending(t)
	bea := p.accepted(p.offer(0, ""), "Bea")
	o := p.order()
	o.CancelOver, o.Method = false, payments.Demo
	wantConflict(t, p.orders.Cancel(t.Context(), p.sale, o, p.key(), bea.Tickets[0].ID), orders.CodeSent)
	if err := p.orders.Revoke(t.Context(), p.sale, p.order(), false); err != nil {
		t.Fatal(err)
	}
	if after := p.order(); after.State != orders.Cancelled || after.ByHand != after.Total || p.count(t, "mail WHERE kind = 'ticket-void'") != 1 {
		t.Errorf("the organizer cancelled it: %+v", after)
	}
	if seen, err := p.orders.ReceivedTicket(t.Context(), bea.Code); err != nil || seen.State != orders.Cancelled || seen.Tickets[0].Code != "" {
		t.Errorf("the friend sees %+v, %v", seen, err)
	}
	p.wantScan(bea.Tickets[0].Code, orders.ScanRevoked, "")
	p.wantBooks(t)
}

func TestTransfer_GoesAlongToAnotherSeat(t *testing.T) {
	t.Parallel()
	p := sending(t)
	bea := p.accepted(p.offer(0, ""), "Bea")
	open := p.offer(1, "cid@example.org")
	o := p.order()
	if err := p.orders.Move(t.Context(), p.sale, o, orders.Moving{Key: "m", Tickets: []seats.ID{of(o, 0).ID, of(o, 1).ID}, To: []int{40, 41}}, nil); err != nil {
		t.Fatal(err)
	}
	seen, err := p.orders.ReceivedTicket(t.Context(), bea.Code)
	if err != nil || len(seen.Tickets) != 1 || seen.Tickets[0].Idx != 40 || seen.Tickets[0].Code == "" || p.count(t, "mail WHERE kind = 'ticket'") != 2 {
		t.Fatalf("the friend sees %+v, %v", seen, err)
	}
	cid := p.accepted(open, "Cid")
	if cid.Tickets[0].Idx != 41 {
		t.Errorf("the second friend got %+v", cid.Tickets)
	}
	p.wantScan(seen.Tickets[0].Code, orders.ScanIn, "Bea")
	p.wantScan(cid.Tickets[0].Code, orders.ScanIn, "Cid")
	p.wantBooks(t)
}

func TestTransfer_RefusedWhereItMayNotBe(t *testing.T) {
	t.Parallel()
	p := sending(t)
	o, offer := p.order(), p.offer(1, "")
	try := func(code string) {
		t.Helper()
		wantConflict(t, p.orders.Offer(t.Context(), o, p.key(), of(o, 0).ID, ""), code)
		_, err := p.orders.Accept(t.Context(), offer, orders.Acceptance{Key: p.key(), Name: "Bea", Email: "bea@example.org"})
		wantConflict(t, err, code)
	}
	for _, c := range []struct{ planted, undo, code string }{
		{`UPDATE event SET transfer_until = NULL`, `UPDATE event SET transfer_until = '0'`, orders.CodePolicy},
		{`UPDATE event SET transfer_until = starts_at - clock_timestamp() + interval '1 hour'`, `UPDATE event SET transfer_until = '0'`, orders.CodePolicy},
		{`UPDATE orders SET paid = paid - 1, received = received - 1`, `UPDATE orders SET paid = paid + 1, received = received + 1`, orders.CodeUnpaid},
		{`UPDATE ticket SET leaving_until = clock_timestamp() + interval '1 hour'`, `UPDATE ticket SET leaving_until = NULL`, orders.CodeCancelled},
	} {
		p.exec(t, c.planted)
		try(c.code)
		p.exec(t, c.undo)
	}
	p.wantScan(of(o, 1).Code, orders.ScanIn, "Ann")
	_, err := p.orders.Accept(t.Context(), offer, orders.Acceptance{Key: p.key(), Name: "Bea", Email: "bea@example.org"})
	wantConflict(t, err, orders.CodeAdmitted)
	var m orders.Mistakes
	if _, err := p.orders.Accept(t.Context(), offer, orders.Acceptance{Key: p.key(), Name: " ", Email: "bea"}); !errors.As(err, &m) || len(m) != 2 {
		t.Errorf("a form without a name got %v", err)
	}
	if err := p.orders.Offer(t.Context(), o, p.key(), of(o, 0).ID, "bea"); !errors.As(err, &m) {
		t.Errorf("a wrong address got %v", err)
	}
	if _, err := p.orders.Accept(t.Context(), "nothing", orders.Acceptance{}); !errors.Is(err, orders.ErrNoTransfer) {
		t.Errorf("a link of nothing got %v", err)
	}
	for range 30 {
		key := p.key()
		if err = p.orders.Offer(t.Context(), p.order(), "o"+key, of(o, 0).ID, ""); err != nil {
			break
		}
		if err = p.orders.Withdraw(t.Context(), p.order(), "w"+key, of(o, 0).ID); err != nil {
			t.Fatal(err)
		}
	}
	wantConflict(t, err, orders.CodeOften)
}

func TestTransfer_FriendGetsTheNewsOfTheEventOnce(t *testing.T) {
	t.Parallel()
	p := sending(t)
	p.accepted(p.offer(0, ""), "Bea")
	cid := p.accepted(p.offer(1, ""), "Cid")
	if err := p.orders.Revoke(t.Context(), p.sale, p.order(), false, cid.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := p.orders.Tell(t.Context(), p.sale.Event.ID, "k", orders.Message{Subject: "News", Text: "Doors at 19:00"}, nil); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := p.orders.RunBulkJob(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.orders.Tell(t.Context(), p.sale.Event.ID, "s", orders.Message{Subject: "Where are you?", Text: "x", Segment: orders.SegmentUnscanned}, nil); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := p.orders.RunBulkJob(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := p.count(t, "mail m JOIN message g ON g.id = m.message_id WHERE g.segment = 'unscanned' AND m.order_id IS NOT NULL"); n != 0 {
		t.Error("the buyer is asked about the ticket of a friend")
	}
	if buyers, friends := p.count(t, "mail WHERE kind = 'message' AND order_id IS NOT NULL"), p.count(t, "mail WHERE kind = 'message' AND transfer_id IS NOT NULL"); buyers != 1 || friends != 2 {
		t.Errorf("%d buyers and %d friends got the message", buyers, friends)
	}
	if jobs, err := p.orders.BulkJobs(t.Context(), p.sale.Event.ID); err != nil || len(jobs) != 2 || jobs[1].Done != 1 {
		t.Errorf("the desk shows %+v, %v", jobs, err)
	}
	p.wantBooks(t)
}

// The person to whom the link was mailed need not be the one who accepted.
func TestTransfer_AddresseeAndFriendAreTwoPersons(t *testing.T) {
	t.Parallel()
	p := sending(t)
	bea := p.accepted(p.offer(0, "cid@example.org"), "Bea")
	err := pgx.BeginFunc(t.Context(), p.db, func(tx pgx.Tx) error {
		list, err := orders.ExportReceived(t.Context(), tx, []int64{p.sale.Event.ID}, "cid@example.org")
		if err != nil || !strings.Contains(string(list), "cid@example.org") || strings.Contains(string(list), "Bea") {
			t.Errorf("the addressee gets %s, %v", list, err)
		}
		if list, err = orders.ExportReceived(t.Context(), tx, []int64{p.sale.Event.ID}, "bea@example.org"); err != nil || strings.Contains(string(list), "cid@example.org") || !strings.Contains(string(list), "Bea") {
			t.Errorf("the friend gets %s, %v", list, err)
		}
		_, err = orders.Erase(t.Context(), tx, []int64{p.sale.Event.ID}, "cid@example.org")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen, err := p.orders.ReceivedTicket(t.Context(), bea.Code); err != nil || seen.Name != "Bea" || seen.Received.SentTo != "" {
		t.Errorf("after the addressee was erased: %+v, %v", seen, err)
	}
}

func TestTransfer_FriendIsForgottenWithTheirAddress(t *testing.T) {
	t.Parallel()
	p := sending(t)
	bea := p.accepted(p.offer(0, "BEA@example.org"), "Bea")
	err := pgx.BeginFunc(t.Context(), p.db, func(tx pgx.Tx) error {
		if codes, err := orders.Unfinished(t.Context(), tx, []int64{p.sale.Event.ID}, "bea@example.org"); err != nil || len(codes) != 1 {
			t.Errorf("still needed: %v, %v", codes, err)
		}
		_, err := orders.Erase(t.Context(), tx, []int64{p.sale.Event.ID}, "bea@example.org")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	seen, err := p.orders.ReceivedTicket(t.Context(), bea.Code)
	if err != nil || seen.Name != "" || seen.Email != "" || len(seen.Tickets) != 1 || p.count(t, "ticket_transfer WHERE sent_to <> ''") != 0 {
		t.Errorf("after the erasure: %+v, %v", seen, err)
	}
	if p.order().Name != "Ann" {
		t.Error("the buyer was erased")
	}
}
