package seats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
)

// A seat costs what its ticket type costs in its category, by the price list of the moment in which it is claimed. A phase is
// a price list that counts from a time on, until a time, or until it has sold so many seats. A held seat keeps its
// type, phase and price. An expired one keeps its type, and gives its place in the phase back.
//
// The counter row is the judge, as for claims: a batch says with which list and in which phase it computed, and is refused
// if the list, the time or what is left of the phase is another one. Then it comes again. The number of seats that a phase
// may still sell stands in the counter row, with a constraint that it is never negative.

// SoldTo says who may buy tickets of a type.
type SoldTo string

// The values of SoldTo.
const (
	SoldToEveryone SoldTo = "everyone"
	SoldWithCode   SoldTo = "code" // attendees with a code that unlocks the type
	SoldAtDesk     SoldTo = "desk" // organizers sell it
)

// TicketType is a kind of ticket, such as adult or child. Its number is its position in Prices.Types.
type TicketType struct {
	Key      string // in requests
	Name     string
	Position int // on pages
	SoldTo   SoldTo
	Least    int    // of one order, if it has any
	Most     int    // of one order; 0: as many as the event allows
	Proof    string // to be shown at the door; empty: none
	With     With
	Retired  bool // not sold any more
}

// With is what a ticket is sold with, and only with. The zero value is nothing.
type With struct {
	Type       *int // tickets of this type
	Accessible bool // wheelchair places
	Each       int  // so many tickets for each of those, at most; 0: any number
}

// Phase is a time in the sale with prices of its own. Its number is its position in Prices.Phases plus one.
type Phase struct {
	Name     string
	BeginsAt *time.Time // nil: from the beginning
	EndsAt   *time.Time // nil: not by time
	Sells    *int       // so many seats; nil: any number
	Retired  bool       // it does not run any more
}

// runs reports whether a phase runs at a moment, if it has seats left.
func (p *Phase) runs(now time.Time) bool {
	return !p.Retired && (p.BeginsAt == nil || !now.Before(*p.BeginsAt)) && (p.EndsAt == nil || now.Before(*p.EndsAt))
}

// Amount is a price in a list.
type Amount struct {
	Phase, Type, Category int   // phase 0: while none runs
	Amount                int64 // minor units
	Percent               *int  // of the first type's price outside of phases, in hundredths of a percent; nil: an amount was set
}

// Prices is a price list of an event. It is never changed: an event gets another one when its prices change.
type Prices struct {
	Version int64
	Types   []TicketType // by number
	Phases  []Phase      // in the order in which they run
	Amounts []Amount

	Coded    bool // the event has types that are sold with a code, or has or had codes that unlock something: see access.go
	HasCodes bool // the event has codes that were not retired

	table    [][][]int64    // by phase, type and category; notSold where there is no price
	reserved map[int32]bool // seats of blocks that codes unlock
}

// coded reports whether tickets of a type are sold with a code.
func (p *Prices) coded(kind int) bool { return p.Types[kind].SoldTo == SoldWithCode }

const notSold = -1

// DefaultType is the only ticket type of an event with one price for each category.
var DefaultType = TicketType{Key: "standard", Name: "Standard", SoldTo: SoldToEveryone}

// Indexed returns the list with its prices in a table, for a plan with these categories. What no list says is the price of
// the category.
func (p Prices) Indexed(categories []Category) *Prices {
	if len(p.Types) == 0 {
		p.Types = []TicketType{DefaultType}
	}
	if len(p.Amounts) == 0 {
		for i, c := range categories {
			p.Amounts = append(p.Amounts, Amount{Category: i, Amount: c.Price})
		}
	}
	p.table = make([][][]int64, len(p.Phases)+1)
	for phase := range p.table {
		p.table[phase] = make([][]int64, len(p.Types))
		for t := range p.Types {
			p.table[phase][t] = slices.Repeat([]int64{notSold}, len(categories))
		}
	}
	for _, a := range p.Amounts {
		if a.Phase < len(p.table) && a.Type < len(p.Types) && a.Category < len(categories) {
			p.table[a.Phase][a.Type][a.Category] = a.Amount
		}
	}
	return &p
}

// WithoutPhases is the list for a copy of the event. The phases were for its own dates.
func (p *Prices) WithoutPhases() *Prices {
	next := &Prices{Types: p.Types}
	for _, a := range p.Amounts {
		if a.Phase == 0 {
			next.Amounts = append(next.Amounts, a)
		}
	}
	return next
}

// Price returns what a ticket of a type costs in a category in a phase, or false if it is not sold there.
func (p *Prices) Price(phase, kind, category int) (amount int64, sold bool) {
	if kind < 0 || kind >= len(p.Types) || phase < 0 || phase >= len(p.table) || category >= len(p.table[phase][kind]) {
		return 0, false
	}
	if amount = p.table[phase][kind][category]; amount == notSold {
		amount = p.table[0][kind][category]
	}
	return max(amount, 0), amount != notSold
}

// Default returns the type that a seat of a category gets if none is named: the first that everyone may buy. It
// returns false if there is none.
func (p *Prices) Default(category int) (kind int, ok bool) {
	for _, t := range p.Order() {
		if _, sold := p.Price(0, t, category); sold && p.Types[t].SoldTo == SoldToEveryone && !p.Types[t].Retired {
			return t, true
		}
	}
	return 0, false
}

// Usual returns the type that a seat of a category gets if a visitor names none: the default, or else the first that is
// unlocked. It returns false if there is none.
func (p *Prices) Usual(category int, access *Access) (kind int, ok bool) {
	if kind, ok = p.Default(category); ok || access == nil {
		return kind, ok
	}
	for _, t := range p.Order() {
		if _, sold := p.Price(0, t, category); sold && p.coded(t) && !p.Types[t].Retired && access.Type(t) {
			return t, true
		}
	}
	return 0, false
}

// Order lists the numbers of the types as pages show them.
func (p *Prices) Order() []int {
	order := make([]int, len(p.Types))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Types[a].Position, p.Types[b].Position) })
	return order
}

// TypeKeyed returns the number of the type with this key, or -1.
func (p *Prices) TypeKeyed(key string) int {
	return slices.IndexFunc(p.Types, func(t TicketType) bool { return t.Key == key })
}

// Line is a seat with the type, the phase and the price that it is held or sold at. A seat of an expired hold has those of
// the moment.
type Line struct {
	Seat     int   `json:"seat"`
	Category int   `json:"category"`
	Type     int   `json:"type"`
	Phase    int   `json:"phase"`          // 0: none
	Price    int64 `json:"price"`          // minor units
	Code     ID    `json:"code,omitzero"`  // with which it was claimed; none for most
	Block    ID    `json:"block,omitzero"` // in which it was reserved for the code
}

// moment is the part of a price list that counts at a time.
type moment struct {
	first, last   int        // the phases that run by time; none if first > last
	begins, until *time.Time // between these the same phases run; nil: there is no such time
}

// at returns what counts at a time. Phases that run at one time follow each other.
func (p *Prices) at(now time.Time) moment {
	m := moment{first: 1}
	for i := range p.Phases {
		f := &p.Phases[i]
		if f.Retired {
			continue
		}
		for _, t := range []*time.Time{f.BeginsAt, f.EndsAt} {
			switch {
			case t == nil:
			case t.After(now):
				if m.until == nil || t.Before(*m.until) {
					m.until = t
				}
			case m.begins == nil || t.After(*m.begins):
				m.begins = t
			}
		}
		if f.runs(now) {
			if m.last == 0 {
				m.first = i + 1
			}
			m.last = i + 1
		}
	}
	return m
}

// fare is the type, phase and price of a seat row.
type fare struct {
	kind  int16
	phase int16  // 0: none
	price *int64 // nil: it has none

	skipped int16 // the last phase that had no place left for it; 0: none
}

// quote returns the fare of a seat at a moment, where phases have so many places left. A type that is not sold there any more
// gives way to the default.
func (s *Sale) quote(m moment, left func(phase int) int, idx, kind int) fare {
	category := s.Plan.Seats[idx].Category
	phase := 0
	for n := m.first; n <= m.last && phase == 0; n++ {
		if !s.Prices.Phases[n-1].Retired && left(n) != 0 {
			phase = n
		}
	}
	price, sold := s.Prices.Price(phase, kind, category)
	if !sold {
		if other, ok := s.Prices.Default(category); ok {
			kind = other
			price, _ = s.Prices.Price(phase, kind, category)
		} else {
			price = s.Plan.Categories[category].Price
		}
	}
	skipped := m.last
	if phase > 0 {
		skipped = phase - 1
	}
	return fare{int16(kind), int16(phase), &price, int16(skipped)}
}

// placesLeft reads what is left of a phase out of a quota: -1 for any number.
func placesLeft(quota []*int, phase int) int {
	switch {
	case phase > len(quota):
		return 0
	case quota[phase-1] == nil:
		return -1
	}
	return *quota[phase-1]
}

// Left returns how many seats a phase may still sell, as this node last read, or -1 for any number.
func (s *Sale) Left(phase int) int {
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	return placesLeft(s.seats.counts.Quota, phase)
}

// Running is what counts of the phases at a time.
type Running struct {
	Phase int        // 0: none
	Left  int        // seats that it may still sell; -1: any number
	Next  int        // the phase that follows it; 0: none
	Until *time.Time // when other phases run; nil: there is no such time
}

// Running returns what counts at a time, with so many places left in each phase (Counts.Quota).
func (p *Prices) Running(now time.Time, quota []*int) Running {
	m := p.at(now)
	r := Running{Left: -1, Until: m.until}
	for n := m.first; n <= m.last && r.Phase == 0; n++ {
		if left := placesLeft(quota, n); left != 0 && !p.Phases[n-1].Retired {
			r.Phase, r.Left = n, left
		}
	}
	if r.Phase == 0 {
		return r
	}
	if ends := p.Phases[r.Phase-1].EndsAt; ends != nil && r.Left < 0 {
		m = p.at(*ends)
	}
	for n := max(m.first, r.Phase+1); n <= m.last && r.Next == 0; n++ {
		if placesLeft(quota, n) != 0 && !p.Phases[n-1].Retired {
			r.Next = n
		}
	}
	return r
}

// Running returns what counts of the phases at a time, as this node last read, the version of the price list, and whether
// it has phases.
func (s *Sale) Running(now time.Time) (list int64, r Running, phases bool) {
	s.seats.mu.RLock()
	quota := s.seats.counts.Quota
	s.seats.mu.RUnlock()
	p := s.now.Load().Prices
	return p.Version, p.Running(now, quota), len(p.Phases) > 0
}

// Quote returns what seats cost at a time, each with its type, or the default where that is nil.
func (s *Sale) Quote(now time.Time, idxs []int, kinds []int) []Line {
	s.seats.mu.RLock()
	quota := s.seats.counts.Quota
	s.seats.mu.RUnlock()
	m, taken := s.Prices.at(now), map[int]int{}
	lines := make([]Line, len(idxs))
	for i, idx := range idxs {
		kind, _ := s.Prices.Default(s.Plan.Seats[idx].Category)
		if kinds != nil {
			kind = kinds[i]
		}
		f := s.quote(m, func(n int) int { return less(placesLeft(quota, n), taken[n]) }, idx, kind)
		taken[int(f.phase)]++
		lines[i] = s.line(idx, f)
	}
	return lines
}

// less takes some places of so many left, or of any number.
func less(left, by int) int {
	if left < 0 {
		return left
	}
	return max(0, left-by)
}

func (s *Sale) line(idx int, f fare) Line {
	return Line{Seat: idx, Category: s.Plan.Seats[idx].Category, Type: int(f.kind), Phase: int(f.phase), Price: *f.price}
}

// SeatsOf lists the seats of lines.
func SeatsOf(lines []Line) []int {
	idxs := make([]int, len(lines))
	for i, l := range lines {
		idxs[i] = l.Seat
	}
	return idxs
}

// pricing is what a batch knows of prices.
type pricing struct {
	moment
	quota   []*int  // as the map says, with what the batch before takes
	delta   []int32 // what this batch adds to it, by phase; nil: nothing
	priced  bool    // it gave seats a price
	skipped int     // the last phase that had no place left for one of them
}

// openPrices prepares a batch to price seats at a time. The map's lock is held.
func (b *batch) openPrices(now time.Time) {
	b.prices.moment = b.sale.Prices.at(now)
	if len(b.sale.Prices.Phases) == 0 {
		return
	}
	m := &b.sale.seats
	b.prices.quota = slices.Clone(m.counts.Quota)
	if b.before == nil || b.before.undone() {
		return
	}
	if written := b.before.version.Load(); written == 0 || m.version < written { // as in coming
		for i, d := range b.before.batch.prices.delta {
			if i < len(b.prices.quota) && b.prices.quota[i] != nil {
				n := max(0, *b.prices.quota[i]+int(d))
				b.prices.quota[i] = &n
			}
		}
	}
}

// undone reports whether a turn has ended without a commit.
func (t *inFlight) undone() bool {
	select {
	case <-t.ended:
		return t.err != nil
	default:
		return false
	}
}

// left is how many seats a phase may still sell at this point of the batch, or -1 for any number.
func (b *batch) left(phase int) int {
	n := placesLeft(b.prices.quota, phase)
	if n >= 0 && phase <= len(b.prices.delta) {
		n = max(0, n+int(b.prices.delta[phase-1]))
	}
	return n
}

// fares returns what seats cost that a holder has or is about to get: the price they have, or that of this moment. kind is
// the type of those without a price.
func (b *batch) fares(idxs []int, kind func(idx int) int) []fare {
	fares, taken := make([]fare, len(idxs)), map[int]int{}
	for i, idx := range idxs {
		if fares[i] = b.rows[idx].fare; fares[i].price == nil {
			fares[i] = b.sale.quote(b.prices.moment, func(n int) int { return less(b.left(n), taken[n]) }, idx, kind(idx))
			taken[int(fares[i].phase)]++
		}
	}
	return fares
}

// fresh returns what seats cost at this moment, whatever they cost before.
func (b *batch) fresh(idxs []int, kind func(idx int) int) []fare {
	fares, taken := make([]fare, len(idxs)), map[int]int{}
	for _, idx := range idxs {
		taken[int(b.rows[idx].phase)]-- // of the hold before, which expired
	}
	for i, idx := range idxs {
		fares[i] = b.sale.quote(b.prices.moment, func(n int) int { return less(b.left(n), taken[n]) }, idx, kind(idx))
		taken[int(fares[i].phase)]++
	}
	return fares
}

// kind is the type of a seat's row.
func (b *batch) kind(idx int) int { return int(b.rows[idx].kind) }

// usual is the default type of a seat.
func (b *batch) usual(idx int) int {
	kind, _ := b.sale.Prices.Default(b.sale.Plan.Seats[idx].Category)
	return kind
}

// lines returns the lines of seats of a holder.
func (b *batch) lines(idxs []int) []Line {
	return b.withCodes(b.sale.linesOf(idxs, b.fares(idxs, b.kind)))
}

func (s *Sale) linesOf(idxs []int, fares []fare) []Line {
	lines := make([]Line, len(idxs))
	for i, idx := range idxs {
		lines[i] = s.line(idx, fares[i])
	}
	return lines
}

// price notes what it means for phases that a seat's row gets another fare.
func (b *batch) price(was, is fare) {
	p := &b.prices
	if is.price != nil && is.price != was.price {
		p.priced = true
		p.skipped = max(p.skipped, int(is.skipped))
	}
	if was.phase == is.phase {
		return
	}
	if p.delta == nil {
		p.delta = make([]int32, max(len(b.sale.Prices.Phases), int(was.phase), int(is.phase)))
	}
	for phase, by := range map[int16]int32{was.phase: 1, is.phase: -1} {
		if phase > 0 && int(phase) <= len(p.delta) {
			p.delta[phase-1] += by
		}
	}
}

// checks are the arguments with which a statement finds out whether the prices of a batch hold: the version of the list,
// the time in which its phases run, and the phases that must have no place left.
func (b *batch) checks() (version *int64, begins, until *time.Time, first, last int) {
	p := &b.prices
	if !p.priced {
		return nil, nil, nil, 1, 0
	}
	last = p.skipped
	for n := p.first; n <= last; n++ {
		if b.left(n) > 0 { // a command behind gave a place back
			last = 0
		}
	}
	return &b.sale.Prices.Version, p.begins, p.until, p.first, last
}

// errPrices sends a batch through the queue again: the price list is another one than this node knew.
var errPrices = errors.New("the event has another price list than this node knew")

// checkPrices compares the price list of this node with that of the event.
func (b *batch) checkPrices() error {
	if b.terms.prices == b.sale.Prices.Version {
		return nil
	}
	return errPrices
}

// outOfQuota reports whether the places of a phase went to others meanwhile.
func outOfQuota(err error) bool {
	return IsConstraint(err, "a phase sells no more than its limit")
}

const loadTypesSQL = `
SELECT key, name, position, sold_to, least, most, proof, with_type, with_accessible, with_each, retired
  FROM ticket_type WHERE event_id = $1 ORDER BY number`

const loadPhasesSQL = `SELECT name, begins_at, ends_at, sells, retired FROM phase WHERE event_id = $1 ORDER BY number`

const loadPricesSQL = `
SELECT phase, type, category, amount, percent FROM price WHERE event_id = $1 AND version = $2 ORDER BY phase, type, category`

// A reserved seat may be held or sold by now.
const loadCodesSQL = `
SELECT EXISTS (SELECT FROM ticket_type WHERE event_id = $1 AND sold_to = 'code')
       OR EXISTS (SELECT FROM code WHERE event_id = $1 AND (presale OR unlocks_types <> '{}' OR unlocks_blocks <> '{}')),
       EXISTS (SELECT FROM code WHERE event_id = $1 AND retired_at IS NULL),
       ARRAY(SELECT DISTINCT unnest(seats) FROM block
              WHERE event_id = $1 AND id IN (SELECT unnest(unlocks_blocks) FROM code WHERE event_id = $1 AND retired_at IS NULL))`

const priceVersionSQL = `SELECT price_version FROM counter WHERE event_id = $1`

// LoadPrices reads the price list of an event with this plan.
func LoadPrices(ctx context.Context, db DB, event int64, plan *Plan) (*Prices, error) {
	p, err := loadPrices(ctx, db, event)
	if err != nil {
		return nil, fmt.Errorf("seats: load prices of event %d: %w", event, err)
	}
	return p.Indexed(plan.Categories), nil
}

func loadPrices(ctx context.Context, db DB, event int64) (p Prices, err error) {
	if err := db.QueryRow(ctx, priceVersionSQL, event).Scan(&p.Version); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return p, err
	}
	if p.Types, err = collect(ctx, db, loadTypesSQL, event, func(row pgx.CollectableRow) (t TicketType, err error) {
		return t, row.Scan(&t.Key, &t.Name, &t.Position, &t.SoldTo, &t.Least, &t.Most, &t.Proof, &t.With.Type, &t.With.Accessible, &t.With.Each, &t.Retired)
	}); err != nil {
		return p, err
	}
	if p.Phases, err = collect(ctx, db, loadPhasesSQL, event, func(row pgx.CollectableRow) (f Phase, err error) {
		return f, row.Scan(&f.Name, &f.BeginsAt, &f.EndsAt, &f.Sells, &f.Retired)
	}); err != nil {
		return p, err
	}
	var reserved []int32
	if err := db.QueryRow(ctx, loadCodesSQL, event).Scan(&p.Coded, &p.HasCodes, &reserved); err != nil {
		return p, err
	}
	for _, idx := range reserved {
		if p.reserved == nil {
			p.reserved = make(map[int32]bool, len(reserved))
		}
		p.reserved[idx] = true
	}
	rows, err := db.Query(ctx, loadPricesSQL, event, p.Version)
	if err != nil {
		return p, err
	}
	p.Amounts, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Amount, err error) {
		return a, row.Scan(&a.Phase, &a.Type, &a.Category, &a.Amount, &a.Percent)
	})
	return p, err
}

// The seats of a phase are counted once its limit is known, under the lock of the counter row: a batch that is under way
// computed with the list before, and comes again.
const setQuotaSQL = `
UPDATE counter SET price_version = price_version + 1,
       quota = (SELECT array_agg(CASE WHEN NOT f.retired AND f.sells IS NOT NULL THEN (f.sells - (SELECT count(*) FROM seat_state s WHERE s.event_id = $1 AND s.phase = f.number))::integer END ORDER BY f.number)
                  FROM phase f WHERE f.event_id = $1)
 WHERE event_id = $1
RETURNING price_version`

const lockCounterSQL = `SELECT FROM counter WHERE event_id = $1 FOR NO KEY UPDATE`

// SetPrices makes the price list that was just written that of the event, and returns its version. It is part of ChangeEvent: the rows of
// types and phases are written before, those of prices with the version after it.
func SetPrices(ctx context.Context, tx pgx.Tx, event int64) (version int64, err error) {
	if _, err := tx.Exec(ctx, lockCounterSQL, event); err != nil { // the count sees every batch that has the row
		return 0, err
	}
	return version, tx.QueryRow(ctx, setQuotaSQL, event).Scan(&version)
}

// CodeType is the code of a refusal: tickets of a type are not sold to this visitor, or not here.
const CodeType = "type"

// understandTypes finds the ticket types of a request.
func (s *Sale) understandTypes(c *command, w ClaimRequest) error {
	if w.Type != "" && len(w.Tickets) > 0 {
		return &ValidationError{Message: text.Mark("A claim names one ticket type of all its seats, or how many tickets of each type. Nothing was changed.")}
	}
	if w.Type != "" {
		kind, err := s.typeFor(w.Type, w.Access)
		c.mix = []int{kind}
		return err
	}
	if most := len(s.Plan.Seats); w.Size() > most {
		return &ValidationError{Message: text.Mark("This event has %s. Nothing was changed."), Args: []any{text.Some(most, "%d seat", "%d seats")}}
	}
	for key, n := range w.Tickets {
		kind, err := s.typeFor(key, w.Access)
		switch {
		case err != nil:
			return err
		case n < 0:
			return &ValidationError{Message: text.Mark("You can’t choose %d tickets. Nothing was changed."), Args: []any{n}}
		}
		c.mix = append(c.mix, slices.Repeat([]int{kind}, n)...)
	}
	if len(w.Tickets) > 0 && len(c.mix) == 0 {
		return &ValidationError{Message: text.Mark("Choose at least one ticket. Nothing was changed.")}
	}
	slices.Sort(c.mix)
	return nil
}

// typeFor returns the type with a key that an attendee may buy, with what their codes unlock.
func (s *Sale) typeFor(key string, access *Access) (int, error) {
	kind := s.Prices.TypeKeyed(key)
	if kind < 0 {
		return 0, &ValidationError{Unknown: true, Message: text.Mark("This event has no ticket type “%s”. Nothing was changed."), Args: []any{key}}
	}
	t := &s.Prices.Types[kind]
	switch {
	case t.Retired:
		return 0, &Conflict{Code: CodeType, Message: text.Mark("Tickets of type “%s” are no longer sold. Your other seats are still held. Choose another type."), Args: []any{t.Name}}
	case t.SoldTo == SoldWithCode && !access.Type(kind):
		return 0, s.refuseCoded(kind)
	case t.SoldTo == SoldAtDesk:
		return 0, &Conflict{Code: CodeType, Message: text.Mark("Tickets of type “%s” are sold at the box office only. Your other seats are still held. Choose another type."), Args: []any{t.Name}}
	}
	return kind, nil
}

// closedTo lists the categories in which a ticket type of a claim is not sold, as Scope has them.
func (s *Sale) closedTo(c *command) string {
	var closed []rune
	for category := range s.Plan.Categories {
		sold := true
		if len(c.mix) == 0 {
			_, sold = s.Prices.Usual(category, c.access)
		}
		for _, kind := range c.mix {
			_, here := s.Prices.Price(0, kind, category)
			sold = sold && here
		}
		if !sold {
			closed = append(closed, rune(category))
		}
	}
	return string(closed)
}

// notSoldHere refuses types that have no price at a place.
func (s *Sale) notSoldHere(c *command, where any) *Conflict {
	if len(c.mix) == 0 {
		return &Conflict{Code: CodeType, Message: text.Mark("%s is not on sale. Your other seats are still held. Choose another seat."), Args: []any{where}}
	}
	var names []string
	for _, kind := range slices.Compact(slices.Clone(c.mix)) {
		names = append(names, s.Prices.Types[kind].Name)
	}
	return &Conflict{Code: CodeType, Message: text.Mark("Not on sale for %s: tickets of type “%s”. Your other seats are still held. Choose another type or seat."), Args: []any{where, strings.Join(names, "”, “")}}
}

// kindFor returns the ticket type of each seat that a claim gets. A seat that the visitor had before keeps its own.
func (b *batch) kindFor(c *command) func(idx int) int {
	sorted := c.seats
	if len(c.mix) > 1 {
		sorted = slices.Sorted(slices.Values(c.seats))
	}
	return func(idx int) int {
		r := b.rows[idx]
		switch {
		case len(c.mix) == 1:
			return c.mix[0]
		case len(c.mix) > 1:
			at, _ := slices.BinarySearch(sorted, idx)
			return c.mix[min(at, len(c.mix)-1)]
		case r.holder == c.holder && (r.state == Expired || r.state == Held) && (!b.sale.Prices.coded(int(r.kind)) || c.access.Type(int(r.kind))): // its time is up
			return int(r.kind)
		}
		kind, _ := b.sale.Prices.Usual(b.sale.Plan.Seats[idx].Category, c.access)
		return kind
	}
}

// SetTypes gives seats that the holder holds other ticket types, by idx, all of them or none. Their phase stays. access is what
// codes of the visitor unlock. It returns the hold. A repeat with the same key gets the first answer.
//
// Errors: ErrNoHold; *ValidationError; a *Conflict if a seat is not held any more or being paid for, or a type is not sold to the
// visitor; the database's.
func (s *Sale) SetTypes(ctx context.Context, holder ID, key string, types map[int]string, access ...*Access) (Hold, error) {
	c := &command{holder: holder, key: key}
	if len(access) > 0 {
		c.access = access[0]
	}
	kinds, words := map[int]int{}, fmt.Appendf(nil, "types %v", types)
	for idx, name := range types {
		if idx < 0 || idx >= len(s.Plan.Seats) {
			return Hold{}, &ValidationError{Unknown: true, Message: text.Mark("This event has no such seat. Nothing was changed.")}
		}
		kind, err := s.typeFor(name, c.access)
		if err != nil {
			return Hold{}, err
		}
		if _, sold := s.Prices.Price(0, kind, s.Plan.Seats[idx].Category); !sold {
			return Hold{}, s.notSoldHere(&command{mix: []int{kind}}, s.Plan.SeatName(idx))
		}
		kinds[idx] = kind
	}
	if len(kinds) == 0 {
		return Hold{}, &ValidationError{Message: text.Mark("Name the seats and the ticket type of each. Nothing was changed.")}
	}
	c.request = string(words)
	c.decide = func(b *batch) (Hold, error) { return b.setTypes(c, kinds) }
	return s.do(ctx, c)
}

func (b *batch) setTypes(c *command, kinds map[int]int) (Hold, error) {
	h, live := b.live(c.holder)
	if h != nil && c.key != "" {
		if first, err := h.answers.to(c.key); err != nil || first != nil {
			return b.repeat(first, c, err)
		}
	}
	switch {
	case h == nil || len(b.still(h)) == 0:
		return Hold{}, ErrNoHold
	case b.terms.status == Cancelled:
		return Hold{}, b.calledOff()
	case !live:
		return Hold{}, &Conflict{Code: CodeExpired, Seats: b.still(h), Message: text.Mark("Your hold expired. You can hold seats again that are still available.")}
	}
	has := b.still(h)
	for _, idx := range slices.Sorted(maps.Keys(kinds)) {
		switch r := b.rows[idx]; {
		case !slices.Contains(has, idx):
			return Hold{}, &Conflict{Code: CodeTaken, Seats: []int{idx}, Message: text.Mark("%s is no longer yours. Nothing was changed. Check your seats."), Args: []any{b.sale.Plan.SeatName(idx)}}
		case r.state == Paying:
			return Hold{}, &Conflict{Code: CodePaying, Seats: []int{idx}, Message: text.Mark("These seats are being paid for. Finish or cancel the payment, then you can change the tickets.")}
		}
	}
	codes, err := b.recode(c, kinds)
	if err != nil {
		return Hold{}, err
	}
	for idx, kind := range kinds {
		r := b.rows[idx]
		if int(r.kind) == kind && r.price != nil {
			continue
		}
		if code, changes := codes[idx]; changes {
			b.noteCode(idx, code)
		}
		price, _ := b.sale.Prices.Price(int(r.phase), kind, b.sale.Plan.Seats[idx].Category)
		r.fare = fare{kind: int16(kind), phase: r.phase, price: &price}
		b.set(idx, c.holder, r)
	}
	if c.key == "" {
		return b.answerHold(h), nil
	}
	h.touched = true
	return b.answerHold(h), h.answers.keep(granted{c.key, c.request, h.id, seatsOf(has), h.expiresAt})
}
