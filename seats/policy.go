package seats

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Policy is what a house decides about giving up tickets, paying later and confirming emails.
type Policy struct {
	NoCancelling  bool          // attendees do not cancel
	CancelUntil   time.Duration // before the start; attendees cancel until then
	CancelFee     int64         // kept for each cancelled ticket, minor units
	CancelPercent int           // of its price, in hundredths of a percent; kept as well
	PayLater      time.Duration // how long an order that is paid at the door or by invoice may stay unpaid
	PayBefore     time.Duration // before the start; it is due then at the latest
	Confirm       Confirm       // whether free orders confirm the email first
}

// Confirm says whether free orders confirm the email first. Orders that are paid later always do.
type Confirm string

// The values of Confirm.
const (
	ConfirmByLimit Confirm = ""       // if one person gets two tickets at most
	ConfirmAlways  Confirm = "always" //
	ConfirmNever   Confirm = "never"  //
)

// confirmLimit is the largest limit per person with which free orders confirm the email unless the event says otherwise.
const confirmLimit = 2

// ReadConfirm reads what ConfirmText writes.
func (p *Policy) ReadConfirm(text string) error {
	switch c := Confirm(strings.ToLower(strings.TrimSpace(text))); c {
	case "automatic":
		p.Confirm = ConfirmByLimit
	case ConfirmByLimit, ConfirmAlways, ConfirmNever:
		p.Confirm = c
	default:
		return fmt.Errorf("%q is not automatic, always or never", text)
	}
	return nil
}

// ConfirmText is automatic, always or never.
func (p Policy) ConfirmText() string {
	if p.Confirm == ConfirmByLimit {
		return "automatic"
	}
	return string(p.Confirm)
}

// ConfirmsFree reports whether free orders of the event confirm the email first.
func (e Event) ConfirmsFree() bool {
	return e.Policy.Confirm == ConfirmAlways || e.Policy.Confirm == ConfirmByLimit && e.SeatsPerHolder <= confirmLimit
}

// DefaultPolicy is that of a new event.
var DefaultPolicy = Policy{CancelUntil: 7 * 24 * time.Hour, PayLater: 3 * 24 * time.Hour, PayBefore: time.Hour}

const mostSpan = 366 * 24 * time.Hour

// check returns what is wrong with a policy, empty if nothing is.
func (p Policy) check() string {
	switch {
	case p.CancelUntil < 0 || p.CancelUntil > mostSpan:
		return "Cancelling ends between the start and a year before it."
	case p.CancelFee < 0 || p.CancelFee > mostFee || p.CancelPercent < 0 || p.CancelPercent > wholePercent:
		return "What is kept of a cancelled ticket is not negative, and not more than its price."
	case p.PayLater < time.Minute || p.PayLater > mostSpan || p.PayBefore < 0 || p.PayBefore > mostSpan:
		return "An order may stay unpaid between a minute and a year."
	}
	return ""
}

// same reports whether two policies say the same of cancelling.
func (p Policy) sameCancelling(other Policy) bool {
	other.PayLater, other.PayBefore, other.Confirm = p.PayLater, p.PayBefore, p.Confirm
	return p == other
}

// CancelEnds returns until when attendees cancel, and false if they never do.
func (e Event) CancelEnds() (time.Time, bool) {
	return e.StartsAt.Add(-e.Policy.CancelUntil), !e.Policy.NoCancelling
}

// Keeps returns what the house keeps of a ticket of this price that an attendee cancels, at most all of it.
func (p Policy) Keeps(price int64) int64 {
	return min(price, p.CancelFee+Fees{Percent: p.CancelPercent}.percentOf(price))
}

// CanPayLater reports whether an order that is placed now may be paid later.
func (e Event) CanPayLater(now time.Time) bool {
	return now.Before(e.StartsAt.Add(-e.Policy.PayBefore))
}

var spanUnits = []struct {
	name string
	is   time.Duration
}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}}

// ReadSpan reads a span of time as people write it: "7 days", "12 hours", "30 minutes", "0".
func ReadSpan(text string) (time.Duration, error) {
	number, unit, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
	n, err := strconv.ParseUint(number, 10, 20)
	if err == nil && n == 0 {
		return 0, nil
	}
	for _, u := range spanUnits {
		if err == nil && strings.TrimSuffix(strings.TrimSpace(unit), "s") == u.name {
			return time.Duration(n) * u.is, nil
		}
	}
	return 0, fmt.Errorf("%q is not a time such as 7 days, 12 hours or 30 minutes", text)
}

// Span writes a span of time as ReadSpan reads it.
func Span(d time.Duration) string {
	for _, u := range spanUnits {
		if n := d / u.is; d%u.is == 0 && n > 0 {
			if n == 1 {
				return "1 " + u.name
			}
			return fmt.Sprintf("%d %ss", n, u.name)
		}
	}
	return "0"
}

const never = "never"

// ReadCancelUntil reads until when attendees cancel: "7 days", "0" for the start, or "never".
func (p *Policy) ReadCancelUntil(text string) (err error) {
	if p.NoCancelling = strings.EqualFold(strings.TrimSpace(text), never); p.NoCancelling {
		p.CancelUntil = 0
		return nil
	}
	p.CancelUntil, err = ReadSpan(text)
	return err
}

// CancelUntilText writes what ReadCancelUntil reads.
func (p Policy) CancelUntilText() string {
	if p.NoCancelling {
		return never
	}
	return Span(p.CancelUntil)
}

const policyColumns = `extract(epoch FROM e.cancel_until)::float8, e.cancel_fee, e.cancel_percent, extract(epoch FROM e.pay_later)::float8, extract(epoch FROM e.pay_before)::float8, coalesce(e.confirm_email, '')`

const savePolicySQL = `
UPDATE event
   SET cancel_until = make_interval(secs => $2), cancel_fee = $3, cancel_percent = $4, pay_later = make_interval(secs => $5), pay_before = make_interval(secs => $6), confirm_email = nullif($7, '')
 WHERE id = $1`

// savePolicy writes the policy of an event.
func (p Policy) save(ctx context.Context, tx pgx.Tx, event int64) error {
	var until *float64
	if !p.NoCancelling {
		secs := p.CancelUntil.Seconds()
		until = &secs
	}
	_, err := tx.Exec(ctx, savePolicySQL, event, until, p.CancelFee, p.CancelPercent, p.PayLater.Seconds(), p.PayBefore.Seconds(), string(p.Confirm))
	return err
}

// policyScan is where the columns of a policy are read to.
type policyScan struct {
	until         *float64
	later, before float64
}

func (s *policyScan) into(p *Policy) []any {
	return []any{&s.until, &p.CancelFee, &p.CancelPercent, &s.later, &s.before, &p.Confirm}
}

func (s *policyScan) end(p *Policy) {
	seconds := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	p.PayLater, p.PayBefore, p.NoCancelling, p.CancelUntil = seconds(s.later), seconds(s.before), s.until == nil, 0
	if s.until != nil {
		p.CancelUntil = seconds(*s.until)
	}
}
