package seats

import (
	"context"
	"fmt"
	"math/bits"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	iso "golang.org/x/text/currency"
)

// Fees are what an order costs besides the prices of its seats. Seats without a price have none, and so has an order
// without any that has one.
type Fees struct {
	Ticket  int64 // for each ticket with a price, minor units
	Order   int64 // once for each order, minor units
	Percent int   // of the prices, in hundredths of a percent; rounded once for each order, half a minor unit up
	Kept    bool  // they do not go back with a cancelled ticket
}

const (
	wholePercent = 100_00  // hundredths of a percent
	mostFee      = 1 << 40 // minor units, as for a price
)

// None tells that there are no fees.
func (f Fees) None() bool { return f.Ticket == 0 && f.Order == 0 && f.Percent == 0 }

// Shares divides the fees of an order over its tickets, whose prices these are, so that they come to the whole: what is
// for the order as one is divided as the prices are. A cancelled ticket takes its share with it.
func (f Fees) Shares(prices []int64) []int64 {
	shares := make([]int64, len(prices))
	var sum int64
	for _, p := range prices {
		sum += p
	}
	if sum == 0 || f.None() {
		return shares
	}
	shared := f.Order + f.percentOf(sum)
	var before, given int64
	for i, p := range prices {
		if p == 0 {
			continue
		}
		before += p
		upTo := part(shared, before, sum)
		shares[i], given = f.Ticket+upTo-given, upTo
	}
	return shares
}

// percentOf is the percentage of an amount, half a minor unit up.
func (f Fees) percentOf(amount int64) int64 {
	high, low := bits.Mul64(uint64(amount), uint64(f.Percent))
	low, carry := bits.Add64(low, wholePercent/2, 0)
	share, _ := bits.Div64(high+carry, low, wholePercent)
	return int64(share)
}

// part is amount × some / of, rounded down; some is at most of.
func part(amount, some, of int64) int64 {
	high, low := bits.Mul64(uint64(amount), uint64(some))
	share, _ := bits.Div64(high, low, uint64(of))
	return int64(share)
}

// check refuses fees that nobody means.
func (f Fees) check() string {
	switch {
	case f.Ticket < 0 || f.Order < 0 || f.Ticket > mostFee || f.Order > mostFee:
		return "A fee is an amount that is not negative."
	case f.Percent < 0 || f.Percent > wholePercent:
		return "A fee is between 0 and 100 percent."
	}
	return ""
}

// ReadPercent reads a percentage as people write it, such as 2.5, in hundredths of a percent.
func ReadPercent(text string) (int, error) {
	whole, rest, _ := strings.Cut(strings.TrimSpace(text), ".")
	if whole == "" || len(rest) > 2 {
		return 0, fmt.Errorf("%q is not a percentage such as 2.5", text)
	}
	found, err := strconv.ParseUint(whole+rest+strings.Repeat("0", 2-len(rest)), 10, 31)
	if err != nil || found > wholePercent {
		return 0, fmt.Errorf("%q is not a percentage between 0 and 100, such as 2.5", text)
	}
	return int(found), nil
}

// Percentage writes hundredths of a percent as ReadPercent reads them: 2.5.
func Percentage(hundredths int) string {
	return strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64)
}

// Cost is what seats cost together.
type Cost struct {
	Prices []int64 // by seat, minor units
	Shares []int64 // of the fees, by seat
	Fee    int64   // all shares together
	Total  int64   // the prices and the fee
}

// CostOf is what seats of a plan cost by the terms of an event.
func CostOf(e Event, p *Plan, seats []int) Cost {
	c := Cost{Prices: make([]int64, len(seats))}
	for i, idx := range seats {
		c.Prices[i] = p.Categories[p.Seats[idx].Category].Price
		c.Total += c.Prices[i]
	}
	c.Shares = e.Fees.Shares(c.Prices)
	for _, share := range c.Shares {
		c.Fee += share
	}
	c.Total += c.Fee
	return c
}

// Cost is what these seats cost together.
func (s *Sale) Cost(seats []int) Cost { return CostOf(s.Event, s.Plan, seats) }

// Total is what these seats cost together with their fees, in minor units.
func (s *Sale) Total(seats []int) (total int64) { return s.Cost(seats).Total }

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

// Online is how people join an event that has no place. The zero value is an event with a place.
type Online struct {
	On    bool
	Link  string        // where people join; empty while the organizer does not know it
	Early time.Duration // before the start, when tickets open the link; 0: as soon as they are confirmed
}

const (
	mostJoinLink     = 2000 // bytes
	mostConfirmation = 5000 // characters
	mostEarly        = 30 * 24 * time.Hour
)

// CheckJoinLink returns what is wrong with a link to join, empty if nothing is.
func CheckJoinLink(link string) string {
	u, err := url.Parse(link)
	switch {
	case link == "":
		return ""
	case len(link) > mostJoinLink || strings.ContainsFunc(link, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Sprintf("The link to join has at most %d characters, and no spaces.", mostJoinLink)
	case err != nil || u.Scheme != "https" || u.Hostname() == "":
		return "The link to join begins with https://, such as https://meet.example.org/small-web."
	}
	return ""
}

// check returns what is wrong with how people join, empty if nothing is.
func (o Online) check(confirmation string) string {
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' }
	switch {
	case o.Early < 0 || o.Early > mostEarly || o.Early > 0 && o.Early < time.Minute:
		return "The link to join opens between a minute and 30 days before the start."
	case !utf8.ValidString(confirmation) || utf8.RuneCountInString(confirmation) > mostConfirmation || strings.ContainsFunc(confirmation, control):
		return fmt.Sprintf("The text in the confirmation has at most %d characters.", mostConfirmation)
	}
	return CheckJoinLink(o.Link)
}

// JoinsAt returns when tickets open the link to join, and false if they do so from the first moment on.
func (e Event) JoinsAt() (time.Time, bool) {
	return e.StartsAt.Add(-e.Online.Early), e.Online.Early > 0
}

const onlineColumns = `e.online, e.join_link, coalesce(extract(epoch FROM e.join_early), 0)::float8, e.confirmation`

const saveOnlineSQL = `
UPDATE event
   SET online = $2, join_link = $3, join_early = make_interval(secs => nullif($4::float8, 0)), confirmation = $5,
       join_link_at = CASE WHEN $3 = '' THEN NULL WHEN join_link = '' THEN clock_timestamp() ELSE join_link_at END
 WHERE id = $1`

// saveOnline writes how people join an event, and what its confirmation says.
func (e NewEvent) saveOnline(ctx context.Context, tx pgx.Tx, event int64) error {
	_, err := tx.Exec(ctx, saveOnlineSQL, event, e.Online.On, e.Online.Link, e.Online.Early.Seconds(), e.Confirmation)
	return err
}

// The currencies whose minor unit is not a hundredth (ISO 4217, List One, SIX Financial Information, 2024).
const (
	noDecimals    = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
	threeDecimals = "BHD IQD JOD KWD LYD OMR TND"
	fourDecimals  = "CLF UYW"
)

// Decimals is how many digits of an amount in a currency stand behind the point: every amount here counts minor units.
func Decimals(currency string) int {
	switch {
	case len(currency) != 3 || strings.Contains(currency, " "):
		return 2
	case strings.Contains(noDecimals, currency):
		return 0
	case strings.Contains(threeDecimals, currency):
		return 3
	case strings.Contains(fourDecimals, currency):
		return 4
	}
	return 2
}

// CheckCurrency refuses what is no currency of ISO 4217, in upper case.
func CheckCurrency(currency string) error {
	if unit, err := iso.ParseISO(currency); err != nil || unit.String() != currency {
		return fmt.Errorf("%q is no currency of ISO 4217, such as EUR", currency)
	}
	return nil
}

// ReadAmount reads an amount as people write it, such as 25.50, in minor units: with a point, and with no more decimals
// than the currency has. Zero is an amount, less is none.
func ReadAmount(text, currency string) (minor int64, err error) {
	digits := Decimals(currency)
	whole, rest, _ := strings.Cut(text, ".")
	if whole == "" {
		return 0, fmt.Errorf("%q is not an amount such as %s", text, Amount(2550, currency))
	}
	if len(rest) > digits {
		return 0, fmt.Errorf("%q is not an amount in %s, which has %d decimals", text, currency, digits)
	}
	found, err := strconv.ParseUint(whole+rest+strings.Repeat("0", digits-len(rest)), 10, 40)
	if err != nil {
		return 0, fmt.Errorf("%q is not an amount such as %s", text, Amount(2550, currency))
	}
	return int64(found), nil
}

// Amount writes minor units as ReadAmount reads them: 25.50, or 3000 in a currency without decimals.
func Amount(minor int64, currency string) string {
	digits, sign := Decimals(currency), ""
	if minor < 0 {
		minor, sign = -minor, "-"
	}
	text := fmt.Sprintf("%0*d", digits+1, minor)
	if digits == 0 {
		return sign + text
	}
	return sign + text[:len(text)-digits] + "." + text[len(text)-digits:]
}
