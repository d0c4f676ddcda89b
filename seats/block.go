package seats

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
)

// BlockKind is what seats are kept off sale for.
type BlockKind string

// The kinds of blocks. The empty one is not said.
const (
	BlockHouse     BlockKind = "house"     // for the box office: late guests, complaints
	BlockPromoter  BlockKind = "promoter"  // an allocation of the promoter or of a partner
	BlockPress     BlockKind = "press"     // journalists and critics
	BlockTechnical BlockKind = "technical" // a camera, a desk, a poor view
	BlockKilled    BlockKind = "killed"    // never on sale at this event

	// BlockGroup keeps seats for a group: its booking alone takes them (BlockRequest.Group).
	BlockGroup BlockKind = "group"
)

// BlockKinds are those that people choose from.
func BlockKinds() []BlockKind {
	return []BlockKind{BlockHouse, BlockPromoter, BlockPress, BlockTechnical, BlockKilled}
}

// BlockTerms is what is known of a block beside its seats.
type BlockTerms struct {
	Kind   BlockKind
	Owner  string    // who uses the seats, or decides about them; may be empty
	Reason string    // a note for organizers; may be empty
	EndsAt time.Time // from then on the seats are on sale again; zero: until they are unblocked
}

// check returns what is wrong with terms, whenever they are set.
func (t *BlockTerms) check() error {
	if t.Reason = strings.TrimSpace(t.Reason); !OneLine(t.Reason, MostReason) {
		return &ValidationError{Message: text.Mark("A reason is one line of at most %d characters. Nothing was changed."), Args: []any{MostReason}}
	}
	if t.Owner = strings.TrimSpace(t.Owner); !OneLine(t.Owner, mostOwner) {
		return &ValidationError{Message: text.Mark("The owner of a block is one line of at most %d characters. Nothing was changed."), Args: []any{mostOwner}}
	}
	if t.Kind != "" && t.Kind != BlockGroup && !slices.Contains(BlockKinds(), t.Kind) {
		return &ValidationError{Message: text.Mark("There is no such kind of block. Nothing was changed.")}
	}
	return nil
}

// checkEnd returns what is wrong with the end of a block at a time.
func (t *BlockTerms) checkEnd(now time.Time) error {
	if !t.EndsAt.IsZero() && !t.EndsAt.After(now) {
		return &ValidationError{Message: text.Mark("The time at which the seats go on sale is over already. Nothing was changed.")}
	}
	return nil
}

func (t *BlockTerms) end() *time.Time {
	if t.EndsAt.IsZero() {
		return nil
	}
	return &t.EndsAt
}

// BlockRequest names the seats that an organizer blocks or unblocks.
type BlockRequest struct {
	Seats      []int
	BlockTerms    // of seats to block
	Of         ID // of seats to unblock: only those of this block; zero: of any

	// Group is the block of a group: the one to be made, or to take seats from. Zero: that of no group.
	Group ID

	// Rest leaves out what cannot be changed now (of a block what is held or sold), instead of refusing all of it.
	Rest bool
	// Also is committed with the last of the seats.
	Also TxHook
}

// blockAtOnce is the most seats of one batch; more of them go one batch after the other, which only a BlockRequest of the
// rest may.
const blockAtOnce = 2000

const blockSQL = `INSERT INTO block (id, event_id, seats, kind, owner, reason, ends_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`

// Block takes seats off sale: all of them or none, or as many as are free with BlockRequest.Rest. It returns
// those it did. Refused if one is held or sold, or if there is nothing left to block.
func (s *Sale) Block(ctx context.Context, k BlockRequest) ([]int, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	if (k.Kind == BlockGroup) != (k.Group != ID{}) {
		return nil, ErrKeptForGroup
	}
	if k.Group != (ID{}) && !k.Rest {
		if err := s.RefuseParty(k.Seats); err != nil {
			return nil, err
		}
	}
	may := func(idx int, b *batch) bool {
		return b.rows[idx].open(b.now) && (k.Group == ID{} || b.offeredBack(idx) == nil) // its owner might take it back
	}
	return s.changeBlocks(ctx, k, may, func(c *command, seats []int, b *batch) func(row) row {
		id := k.Group
		if id == (ID{}) {
			id = NewID()
		} else {
			b.groups[id] = true
		}
		write := c.write
		c.write = func(q *pgx.Batch) {
			q.Queue(blockSQL, id, s.Event.ID, seatsOf(seats), k.Kind, k.Owner, k.Reason, k.end())
			if write != nil {
				write(q)
			}
		}
		return func(row) row { return row{state: Blocked, holder: id} }
	})
}

// Unblock puts blocked seats on sale again. Seats that are not blocked are refused, all together, or left out with
// BlockRequest.Rest. It returns those it did.
func (s *Sale) Unblock(ctx context.Context, k BlockRequest) ([]int, error) {
	may := func(idx int, b *batch) bool {
		r := b.rows[idx]
		return r.state == Blocked && (k.Of == ID{} || r.holder == k.Of) && !b.ofGroup(idx, k.Group)
	}
	return s.changeBlocks(ctx, k, may, func(*command, []int, *batch) func(row) row {
		return func(row) row { return row{} }
	})
}

// ErrKeptForGroup is the answer to who makes, or changes, the block of a group without its booking.
var ErrKeptForGroup = &ValidationError{Message: text.Mark("Seats of a group are kept by its booking alone. Nothing was changed. Change the booking.")}

// ErrNoBlock says that an event has no such block.
var ErrNoBlock = errors.New("the event has no such block")

const lockBlockSQL = `
SELECT ended_at IS NOT NULL OR coalesce(ends_at <= clock_timestamp(), false), kind, clock_timestamp() FROM block WHERE event_id = $1 AND id = $2 FOR UPDATE`

const changeBlockSQL = `UPDATE block SET kind = $3, owner = $4, reason = $5, ends_at = $6 WHERE event_id = $1 AND id = $2`

// ChangeBlock sets the terms of a block, in a transaction. Errors: ErrNoBlock; *ValidationError if the terms are wrong, or if its
// time is up.
func ChangeBlock(ctx context.Context, tx pgx.Tx, event int64, block ID, t BlockTerms) error {
	var over bool
	var kind BlockKind
	var now time.Time
	switch err := tx.QueryRow(ctx, lockBlockSQL, event, block).Scan(&over, &kind, &now); {
	case errors.Is(err, pgx.ErrNoRows):
		return ErrNoBlock
	case err != nil:
		return fmt.Errorf("seats: read block %s: %w", block, err)
	case over:
		return &ValidationError{Message: text.Mark("The time of this block is up: its seats are on sale. Nothing was changed.")}
	}
	if err := t.check(); err != nil {
		return err
	}
	if (kind == BlockGroup) != (t.Kind == BlockGroup) {
		return ErrKeptForGroup
	}
	if err := t.checkEnd(now); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, changeBlockSQL, event, block, t.Kind, t.Owner, t.Reason, t.end()); err != nil {
		return fmt.Errorf("seats: change block %s: %w", block, err)
	}
	return nil
}

// It waits for a change of the terms under way: once the time is up, they stay.
const endingBlockSQL = `
SELECT e.slug, b.seats FROM block b JOIN event e ON e.id = b.event_id
 WHERE b.id = $1 AND b.ends_at <= clock_timestamp() AND b.ended_at IS NULL
   FOR SHARE OF b`

const endBlockSQL = `UPDATE block SET ended_at = clock_timestamp() WHERE id = $1 AND ends_at <= clock_timestamp() AND ended_at IS NULL`

// EndBlock puts the seats on sale that a block still has at the end of its time, and notes that it ended. Seats in the hands of
// buyers with a code do not go back to it from then on: see seatCodesSQL. It reports whether it did: another node may be first.
func (o *Inventory) EndBlock(ctx context.Context, block ID) (bool, error) {
	var slug string
	var seats []int
	if err := o.db.QueryRow(ctx, endingBlockSQL, block).Scan(&slug, &seats); errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("seats: read block %s: %w", block, err)
	}
	s, err := o.Sale(ctx, slug)
	if err != nil {
		return false, fmt.Errorf("seats: end block %s: %w", block, err)
	}
	var none *Conflict
	if _, err := s.Unblock(ctx, BlockRequest{Seats: seats, Of: block, Group: block, Rest: true}); err != nil && !errors.As(err, &none) {
		return false, fmt.Errorf("seats: end block %s: %w", block, err)
	}
	done, err := o.db.Exec(ctx, endBlockSQL, block)
	if err != nil {
		return false, fmt.Errorf("seats: end block %s: %w", block, err)
	}
	return done.RowsAffected() == 1, nil
}

// The seats are locked, so the end of a block that is read here frees them afterwards.
const backToBlockSQL = `
SELECT id, seats FROM block WHERE event_id = $1 AND id = ANY($2::uuid[]) AND ended_at IS NULL AND (ends_at IS NULL OR ends_at > clock_timestamp())`

// queueBlocks reads the blocks that seats of this batch go back to.
func (b *batch) queueBlocks(q *pgx.Batch) {
	var ids []ID
	for _, c := range b.commands {
		if c.block != (ID{}) {
			ids = append(ids, c.block)
		}
		ids = slices.AppendSeq(ids, maps.Values(c.blocks))
	}
	if len(ids) == 0 {
		return
	}
	b.blocks = map[ID][]int32{}
	q.Queue(backToBlockSQL, b.sale.Event.ID, ids).Query(func(rows pgx.Rows) error {
		var id ID
		var seats []int32
		_, err := pgx.ForEachRow(rows, []any{&id, &seats}, func() error {
			b.blocks[id], seats = seats, nil
			return nil
		})
		return err
	})
}

// Blocks of groups last until they ended, or until their seats are sold to the group.
const groupsSQL = `SELECT id FROM block WHERE event_id = $1 AND kind = 'group' AND ended_at IS NULL`

// queueGroups reads the blocks of groups, if a command of this batch takes seats of blocks.
func (b *batch) queueGroups(q *pgx.Batch) {
	if !slices.ContainsFunc(b.commands, func(c *command) bool { return c.unblocks }) {
		return
	}
	b.groups = map[ID]bool{}
	q.Queue(groupsSQL, b.sale.Event.ID).Query(func(rows pgx.Rows) error {
		var id ID
		_, err := pgx.ForEachRow(rows, []any{&id}, func() error {
			b.groups[id] = true
			return nil
		})
		return err
	})
}

// ofGroup reports whether a seat is kept for a group other than this one.
func (b *batch) ofGroup(idx int, but ID) bool {
	r := b.rows[idx]
	return r.state == Blocked && r.holder != but && b.groups[r.holder]
}

// backTo returns the state of a seat that comes back: blocked if it is of the block, and free otherwise.
func (b *batch) backTo(block ID, idx int) row {
	if slices.Contains(b.blocks[block], int32(idx)) {
		return row{state: Blocked, holder: block}
	}
	return row{}
}

// changeBlocks changes the seats for which may holds to what is made of them, batch after batch.
func (s *Sale) changeBlocks(ctx context.Context, k BlockRequest, may func(idx int, b *batch) bool, make func(*command, []int, *batch) func(row) row) (all []int, err error) {
	seats, err := s.known(k.Seats)
	if err != nil {
		return nil, err
	}
	if !k.Rest {
		if err := s.RefusePart(seats); err != nil {
			return nil, err
		}
	}
	if len(seats) > blockAtOnce && !k.Rest {
		return nil, &ValidationError{Message: text.Mark("These are %d seats, and at most %d can be changed together. Nothing was changed. Choose fewer, or “Skip seats that are taken”."), Args: []any{len(seats), blockAtOnce}}
	}
	for _, some := range s.wholeChunks(seats, blockAtOnce) {
		c := &command{seats: some, unblocks: true, resells: k.Group != ID{}}
		last := some[len(some)-1] == seats[len(seats)-1]
		c.decide = func(b *batch) (Hold, error) {
			c.write = nil
			if err := k.checkEnd(b.now); err != nil {
				return Hold{}, err
			}
			fit := b.sale.wholeParts(slices.DeleteFunc(slices.Clone(some), func(idx int) bool { return !may(idx, b) }))
			if len(fit) < len(some) && !k.Rest {
				rest := slices.DeleteFunc(slices.Clone(some), func(idx int) bool { return slices.Contains(fit, idx) })
				return Hold{}, &Conflict{Code: CodeTaken, Seats: rest, Message: text.Mark("These seats can’t be changed now: %s. Nothing was changed. Look at their state first."), Args: []any{s.named(rest)}}
			}
			if last && (len(fit) > 0 || len(all) > 0) {
				c.write = k.Also
			}
			if len(fit) > 0 {
				to := make(c, fit, b)
				for _, idx := range fit {
					b.set(idx, b.rows[idx].blockHolder(), to(b.rows[idx]))
				}
			}
			return Hold{Seats: fit}, nil
		}
		done, err := s.do(ctx, c)
		if err != nil {
			return all, err
		}
		all = append(all, done.Seats...)
	}
	if len(all) == 0 {
		return nil, &Conflict{Code: CodeTaken, Seats: seats, Message: text.Mark("None of these seats can be changed now: look at their state first. Nothing was changed.")}
	}
	return all, nil
}

// blockHolder is the holder under which the organizer changes a seat: of a blocked one its block; otherwise
// none, so that the guard passes only what any visitor might take.
func (r row) blockHolder() ID {
	if r.state == Blocked {
		return r.holder
	}
	return ID{}
}

// known are seats in the order of idx, each once. *ValidationError if one is not there, or if there are none.
func (s *Sale) known(seats []int) ([]int, error) {
	if len(seats) == 0 {
		return nil, &ValidationError{Message: text.Mark("No seat was chosen. Nothing was changed.")}
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(seats)))
	for _, idx := range sorted {
		if idx < 0 || idx >= len(s.Plan.Seats) {
			return nil, &ValidationError{Unknown: true, Message: text.Mark("This event has no seat number %d. Nothing was changed."), Args: []any{idx}}
		}
	}
	return sorted, nil
}

// OneLine reports whether a text is one line of at most so many characters.
func OneLine(text string, most int) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl) && utf8.RuneCountInString(text) <= most
}

// The most characters of a reason, of a status or a block, and of the owner of a block.
const (
	MostReason = 500
	mostOwner  = 200
)
