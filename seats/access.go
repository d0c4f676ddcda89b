package seats

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
)

// A code unlocks ticket types that are sold with a code, blocked seats that are reserved for it, or the time before the event
// is on sale. The codes of a visitor travel with the claim. The batch asks under its locks whether they are good, and
// writes down which code each seat was claimed with: the order counts for that code, and a reserved seat goes back to
// its block whenever it would be free. So a reserved seat is never free or expired, and no fast-path batch takes one.
//
// Events without such codes read and write nothing of this: Prices.Coded says so, and each batch compares its price list with
// that of the event.

// Unlock is what one code unlocks.
type Unlock struct {
	Code    ID
	Types   []int
	Blocks  []ID
	Presale bool
	Tickets int // of one person before the event is on sale; 0: as many as the event lets them have
}

// Access is what the codes of a visitor unlock; nil for nothing.
type Access struct {
	Unlocks []Unlock
	Seats   []int // of the blocks, as far as they were reserved when this was read
	Only    bool  // nothing but seats of the blocks may be claimed
}

// only reports whether nothing but seats of the blocks may be claimed.
func (a *Access) only() bool { return a != nil && a.Only }

// Type reports whether a ticket type is unlocked.
func (a *Access) Type(kind int) bool {
	return a != nil && slices.ContainsFunc(a.Unlocks, func(u Unlock) bool { return slices.Contains(u.Types, kind) })
}

// seats returns the reserved seats that are unlocked, as far as they were when this was read; nil for none.
func (a *Access) seats(s *Sale) map[int]bool {
	if a == nil || len(a.Seats) == 0 {
		return nil
	}
	unlocked := make(map[int]bool, len(a.Seats))
	for _, idx := range a.Seats {
		unlocked[idx] = idx < len(s.Plan.Seats)
	}
	return unlocked
}

// Presale reports whether seats may be claimed before the event is on sale.
func (a *Access) Presale() bool {
	return a != nil && slices.ContainsFunc(a.Unlocks, func(u Unlock) bool { return u.Presale })
}

// PresaleLimit returns how many tickets one person may have before the event is on sale, by the most generous of the codes; 0: as many as the
// event lets them have.
func (a *Access) PresaleLimit() (most int) {
	if a == nil {
		return 0
	}
	for _, u := range a.Unlocks {
		switch {
		case u.Presale && u.Tickets == 0:
			return 0
		case u.Presale:
			most = max(most, u.Tickets)
		}
	}
	return most
}

// CodeReserved is the code of a refusal: seats are reserved for visitors with a code.
const CodeReserved = "reserved"

// seatCode is a seat_code row.
type seatCode struct {
	holder ID
	code   ID
	block  ID // none: the seat was not reserved
	early  bool
	limit  int // tickets of one person, if it was claimed before the sale with a code that says how many; 0: it does not
}

// need is what a code has to unlock for one seat.
type need struct {
	kind  int // a ticket type; -1: none
	block ID
	early bool
}

// Codes of seats that this batch may change, and of all holds that are over. Nothing goes back to a block whose time is up.
const seatCodesSQL = `
SELECT c.idx, c.holder, c.code, (SELECT id FROM block WHERE id = c.block AND (ends_at IS NULL OR ends_at > clock_timestamp())), c.early, CASE WHEN c.early THEN (SELECT person_tickets FROM code WHERE id = c.code) ELSE 0 END
  FROM (SELECT unnest($2::integer[])
        UNION
        SELECT unnest(h.seats)
          FROM unnest($3::uuid[]) AS by(holder),
               LATERAL (SELECT seats FROM hold WHERE event_id = $1 AND hold.holder = by.holder OFFSET 0) h
        UNION
        SELECT unnest(o.seats)
          FROM (SELECT event_id, seats FROM hold WHERE NOT lapsed AND expires_at <= statement_timestamp() OFFSET 0) o
         WHERE o.event_id = $1) AS n(idx),
       LATERAL (SELECT idx, holder, code, block, early FROM seat_code WHERE event_id = $1 AND idx = n.idx OFFSET 0) c`

// The codes that are good. They are not retired before the batch is committed. Those of a member are good while the person is one.
const goodCodesSQL = `
SELECT c.id, c.person_tickets FROM code c
 WHERE c.event_id = $1 AND c.id = ANY($2::uuid[]) AND c.retired_at IS NULL
   AND (c.begins_at IS NULL OR c.begins_at <= clock_timestamp()) AND (c.ends_at IS NULL OR c.ends_at > clock_timestamp())
   AND NOT EXISTS (SELECT FROM allowance a WHERE a.event_id = $1 AND a.key = c.id AND a.used >= a.most)
   AND (c.membership_id IS NULL OR member_now(c.membership_id, $1))
 ORDER BY c.id
   FOR SHARE OF c`

// A status that lets a visitor claim early cannot change before the batch is committed.
const lockStatusSQL = `
SELECT CASE WHEN status = 'on sale' AND opens_at > clock_timestamp() THEN 'scheduled' ELSE status END, opens_at, reason
  FROM event WHERE id = $1 FOR SHARE`

// queueCodes reads the codes of seats, and finds which codes of the claims are good. The seats are locked.
func (b *batch) queueCodes(q *pgx.Batch, holders []ID, seats []int32) {
	if b.sale.Prices.Coded {
		b.coded = map[int]seatCode{}
		q.Queue(seatCodesSQL, b.sale.Event.ID, seats, holders).Query(func(rows pgx.Rows) error {
			var idx int
			var c seatCode
			_, err := pgx.ForEachRow(rows, []any{&idx, &c.holder, &c.code, &c.block, &c.early, &c.limit}, func() error {
				b.coded[idx] = c
				return nil
			})
			return err
		})
	}
	var codes []ID
	presale := false
	for _, c := range b.commands {
		if c.access != nil {
			presale = presale || c.access.Presale()
			for _, u := range c.access.Unlocks {
				codes = append(codes, u.Code)
			}
		}
	}
	if presale { // first, as whatever changes an event locks it before its codes
		q.Queue(lockStatusSQL, b.sale.Event.ID).QueryRow(func(r pgx.Row) error {
			return r.Scan(&b.terms.status, &b.terms.opensAt, &b.terms.reason)
		})
	}
	if len(codes) > 0 {
		b.good = map[ID]int{}
		q.Queue(goodCodesSQL, b.sale.Event.ID, codes).Query(func(rows pgx.Rows) error {
			var code ID
			var limit int
			_, err := pgx.ForEachRow(rows, []any{&code, &limit}, func() error {
				b.good[code] = limit
				return nil
			})
			return err
		})
	}
}

// unlocks returns a good code of a command that unlocks all that a seat needs.
func (b *batch) unlocks(c *command, n need) (code ID, ok bool) {
	if c.access == nil {
		return ID{}, false
	}
	for _, u := range c.access.Unlocks {
		if _, good := b.good[u.Code]; good && (n.kind < 0 || slices.Contains(u.Types, n.kind)) && (n.block == ID{} || slices.Contains(u.Blocks, n.block)) && (!n.early || u.Presale) {
			return u.Code, true
		}
	}
	return ID{}, false
}

// claimsEarly reports whether a claim may be granted before the event is on sale.
func (b *batch) claimsEarly(c *command) bool {
	if b.terms.status != Scheduled {
		return false
	}
	_, ok := b.unlocks(c, need{kind: -1, early: true})
	return ok
}

// blockOf returns the block in which a seat is, or to which it goes back; none for most.
func (b *batch) blockOf(idx int) ID {
	if r := b.rows[idx]; r.state == Blocked {
		return r.holder
	}
	return b.coded[idx].block
}

// reserved reports whether a seat is kept from a claim: its block is not unlocked.
func (b *batch) reserved(idx int, c *command) bool {
	block := b.blockOf(idx)
	if block == (ID{}) {
		return false
	}
	_, ok := b.unlocks(c, need{kind: -1, block: block})
	return !ok
}

// needs returns what a code has to unlock for a seat with a ticket type.
func (b *batch) needs(c *command, idx, kind int) need {
	n := need{kind: -1, block: b.blockOf(idx), early: c.early}
	if b.sale.Prices.coded(kind) {
		n.kind = kind
	}
	return n
}

// codesFor returns the code of each seat that needs one and is about to be the command's, or why it has none.
func (b *batch) codesFor(c *command, idxs []int, kind func(idx int) int) (map[int]seatCode, error) {
	if c.access == nil && !b.sale.Prices.Coded {
		return nil, nil
	}
	codes := map[int]seatCode{}
	for _, idx := range idxs {
		n := b.needs(c, idx, kind(idx))
		if n == (need{kind: -1}) {
			continue
		}
		code, ok := b.unlocks(c, n)
		if !ok {
			return nil, b.sale.refuseLocked(idx, n)
		}
		codes[idx] = b.codeFor(c, code, n)
	}
	return codes, nil
}

// codeFor is the code of a seat that needs one.
func (b *batch) codeFor(c *command, code ID, n need) seatCode {
	of := seatCode{holder: c.holder, code: code, block: n.block, early: n.early}
	if n.early {
		of.limit = b.good[code]
	}
	return of
}

// The limit of a presale is that of tickets of one person, until the event is on sale: of a visitor when they claim, and of the person when
// they order what they claimed then. As with the limit of the event, what the person has of the event counts.

// refuseEarly says why a visitor who has so many tickets may not claim seats before the sale with these codes; nil if they may.
func (b *batch) refuseEarly(c *command, h *holdRow, fresh []int, codes map[int]seatCode, has int) error {
	if !c.early {
		return nil
	}
	limit := 0
	for _, code := range codes {
		limit = stricter(limit, code.limit)
	}
	if _, live := b.live(c.holder); live {
		for _, idx := range b.still(h) {
			limit = stricter(limit, b.coded[idx].limit)
		}
	}
	if limit > 0 && has+len(fresh) > limit {
		return overPresale(limit, has)
	}
	return nil
}

// stricter is the smaller of two limits, of which 0 is none.
func stricter(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// overPresale refuses a claim by a visitor with too many tickets for the limit of a presale.
func overPresale(limit, has int) *Conflict {
	tickets := text.Some(limit, "%d ticket", "%d tickets")
	if has > 0 {
		return &Conflict{Code: CodeLimit, Message: text.Mark("You can book up to %s in the presale. You already have %d."), Args: []any{tickets, has}}
	}
	return &Conflict{Code: CodeLimit, Message: text.Mark("You can book up to %s in the presale."), Args: []any{tickets}}
}

// early returns how many of the seats were claimed before the sale with a code that limits the tickets of one person, and to how many.
func (b *batch) early(seats []int) (n, limit int) {
	for _, idx := range seats {
		if c, is := b.coded[idx]; is && c.limit > 0 && c.holder == b.rows[idx].holder {
			n, limit = n+1, stricter(limit, c.limit)
		}
	}
	return n, limit
}

// buyEarly refuses seats that are too many for a presale. Counts on which it relies have not grown when the batch is written.
func (b *batch) buyEarly(keys []ID, seats []int) error {
	n, limit := b.early(seats)
	if n == 0 {
		return nil
	}
	for _, key := range keys {
		b.purchases.add(key, 0, 0)
		p := b.purchases[key]
		if has := p.used + p.more; has+n > limit {
			return refuseEarlyPerson(limit, has)
		}
		p.exact = true
	}
	return nil
}

// refuseEarlyPerson refuses tickets of a presale for a person who has too many.
func refuseEarlyPerson(limit, has int) *Conflict {
	return &Conflict{
		Code:    CodePerson,
		Message: text.Mark("In the presale you can book up to %s per person for this event, over all orders. %s already booked, or waiting to be paid for or confirmed, with the same email address, account or card."),
		Args:    []any{text.Some(limit, "%d ticket", "%d tickets"), text.Some(has, "%d is", "%d are")},
	}
}

// refuseLocked says that no code of the visitor unlocks what a seat needs.
func (s *Sale) refuseLocked(idx int, n need) *Conflict {
	switch {
	case n.kind >= 0 && n.block == (ID{}) && !n.early:
		return s.refuseCoded(n.kind)
	case n.kind >= 0:
		return &Conflict{Code: CodeType, Message: text.Mark("None of your codes unlocks both %s and tickets of type “%s”. Your other seats are still held. Choose another type or seat."), Args: []any{s.Plan.SeatName(idx), s.Prices.Types[n.kind].Name}}
	}
	return s.reservedFor([]int{idx})
}

// refuseCoded says that tickets of a type need a code.
func (s *Sale) refuseCoded(kind int) *Conflict {
	return &Conflict{Code: CodeType, Message: text.Mark("Tickets of type “%s” need a code. Your other seats are still held. Enter the code first, or choose another type."), Args: []any{s.Prices.Types[kind].Name}}
}

// reservedFor says that seats need a code.
func (s *Sale) reservedFor(seats []int) *Conflict {
	return &Conflict{Code: CodeReserved, Seats: seats, Message: oneOrMany(seats, text.Mark("%s is reserved. Your other seats are still held. Enter the code for this seat first, or choose another."), text.Mark("%s are reserved. Your other seats are still held. Enter the code for these seats first, or choose others.")), Args: []any{s.named(seats)}}
}

// outsideAllocation says that a seat is not of the allocation that a claim is for.
func (s *Sale) outsideAllocation(idx int) *Conflict {
	return &Conflict{Code: CodeReserved, Seats: []int{idx}, Message: text.Mark("%s is not in the allocation of this key. Your other seats are still held. Choose seats of the allocation."), Args: []any{s.Plan.SeatName(idx)}}
}

// Reserved reports whether a seat is shown as reserved: it is blocked, and a code unlocks its block.
func (s *Sale) Reserved(idx int) bool {
	if s.Prices == nil || !s.Prices.reserved[int32(idx)] {
		return false
	}
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	return s.seats.states[idx] == Blocked
}

// keepReserved returns the state that a seat gets in place of another one: a reserved seat that would be free or expired goes
// back to its block.
func (b *batch) keepReserved(idx int, to row) row {
	if c, is := b.coded[idx]; is && c.block != (ID{}) && (to.holder == ID{} || to.state == Expired) {
		return row{state: Blocked, holder: c.block}
	}
	return to
}

// carryCode keeps the code of a seat beside its holder, before the seat changes: the code stays with the visitor, and goes
// from them to their payment or order. Another visitor needs a code of their own.
func (b *batch) carryCode(idx int, to row) {
	c, is := b.coded[idx]
	if !is || c.holder == to.holder && to.state != Blocked {
		return
	}
	if c.holder == b.rows[idx].holder && (to.state == Sold || to.state == Paying) {
		c.holder = to.holder
		b.noteCode(idx, c)
		return
	}
	b.noteCode(idx, seatCode{})
}

// noteCode writes down the code of a seat; the zero one removes it.
func (b *batch) noteCode(idx int, c seatCode) {
	if b.coded == nil {
		b.coded = map[int]seatCode{}
	}
	if b.recoded == nil {
		b.recoded = map[int]bool{}
	}
	if b.recoded[idx] = true; c == (seatCode{}) {
		delete(b.coded, idx)
		return
	}
	b.coded[idx] = c
}

const saveCodesSQL = `
INSERT INTO seat_code (event_id, idx, holder, code, block, early)
SELECT $1, * FROM unnest($2::integer[], $3::uuid[], $4::uuid[], $5::uuid[], $6::boolean[])
    ON CONFLICT (event_id, idx) DO UPDATE SET holder = excluded.holder, code = excluded.code, block = excluded.block, early = excluded.early`

const forgetCodesSQL = `DELETE FROM seat_code WHERE event_id = $1 AND idx = ANY($2::integer[])`

// recode returns the codes of held seats that get other ticket types; the zero one for a seat that needs none any more.
func (b *batch) recode(c *command, kinds map[int]int) (map[int]seatCode, error) {
	codes := map[int]seatCode{}
	for _, idx := range slices.Sorted(maps.Keys(kinds)) {
		was := b.coded[idx]
		if was.holder != c.holder {
			was = seatCode{}
		}
		switch kind := kinds[idx]; {
		case int(b.rows[idx].kind) == kind:
		case b.sale.Prices.coded(kind):
			n := need{kind, was.block, was.early}
			code, ok := b.unlocks(c, n)
			if !ok {
				return nil, b.sale.refuseLocked(idx, n)
			}
			codes[idx] = b.codeFor(c, code, n)
		case was.block == (ID{}) && !was.early:
			codes[idx] = seatCode{}
		}
	}
	return codes, nil
}

// mayTakeLate reports whether a seat may go to a purchase that comes late: it is of one of the holders, or has none, or went
// back to the block that it was reserved in.
func (b *batch) mayTakeLate(idx int, agreed []Line, holders ...ID) bool {
	r := b.rows[idx]
	if slices.Contains(holders, r.holder) && (r.state == Held || r.state == Expired || r.state == Paying) {
		return true
	}
	var block ID
	if at := slices.IndexFunc(agreed, func(l Line) bool { return l.Seat == idx }); at >= 0 {
		block = agreed[at].Block
	}
	if r.state == Blocked {
		return r.holder == block
	}
	return r.open(b.now) && (b.coded[idx].block == ID{} || b.coded[idx].block == block)
}

// noteAgreed writes down the codes with which the seats of a late purchase were claimed.
func (b *batch) noteAgreed(agreed []Line, holder ID) {
	for _, l := range agreed {
		if l.Code != (ID{}) {
			b.noteCode(l.Seat, seatCode{holder: holder, code: l.Code, block: l.Block})
		}
	}
}

// queueSeatCodes writes the codes of seats. The seats are locked, and with them these rows.
func (b *batch) queueSeatCodes(q *pgx.Batch) {
	var gone, idxs []int32
	var holders, codes, blocks []ID
	var early []bool
	for _, idx := range slices.Sorted(maps.Keys(b.recoded)) {
		c, is := b.coded[idx]
		if !is {
			gone = append(gone, int32(idx))
			continue
		}
		idxs, holders, codes, blocks, early = append(idxs, int32(idx)), append(holders, c.holder), append(codes, c.code), append(blocks, c.block), append(early, c.early)
	}
	if len(gone) > 0 {
		q.Queue(forgetCodesSQL, b.sale.Event.ID, gone)
	}
	if len(idxs) > 0 {
		q.Queue(saveCodesSQL, b.sale.Event.ID, idxs, holders, codes, blocks, early)
	}
}

// withCodes adds to lines the codes that their seats were claimed with.
func (b *batch) withCodes(lines []Line) []Line {
	for i := range lines {
		if c, is := b.coded[lines[i].Seat]; is && c.holder == b.rows[lines[i].Seat].holder {
			lines[i].Code, lines[i].Block = c.code, c.block
		}
	}
	return lines
}

const codesOfHoldSQL = `SELECT idx, code, block FROM seat_code WHERE event_id = $1 AND holder = $2 AND idx = ANY($3::integer[])`

// readCodes adds to the lines of a hold the codes that its seats were claimed with.
func (s *Sale) readCodes(ctx context.Context, holder ID, lines []Line) error {
	if !s.Prices.Coded {
		return nil
	}
	rows, err := s.inventory.db.Query(ctx, codesOfHoldSQL, s.Event.ID, holder, seatsOf(SeatsOf(lines)))
	if err != nil {
		return fmt.Errorf("seats: codes of a hold in event %d: %w", s.Event.ID, err)
	}
	var idx int
	var code, block ID
	_, err = pgx.ForEachRow(rows, []any{&idx, &code, &block}, func() error {
		if i := slices.IndexFunc(lines, func(l Line) bool { return l.Seat == idx }); i >= 0 {
			lines[i].Code, lines[i].Block = code, block
		}
		return nil
	})
	return err
}
