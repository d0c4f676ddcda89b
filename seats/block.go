package seats

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
)

// BlockRequest names the seats that an organizer blocks or unblocks.
type BlockRequest struct {
	Seats  []int
	Reason string // of a block, for organizers; may be empty

	// Rest leaves out what cannot be changed now (of a block what is held or sold), instead of refusing all of it.
	Rest bool
	// Also is committed with the last of the seats.
	Also TxHook
}

// blockAtOnce is the most seats of one batch; more of them go one batch after the other, which only a BlockRequest of the
// rest may.
const blockAtOnce = 2000

const blockSQL = `INSERT INTO block (id, event_id, seats, reason) VALUES ($1, $2, $3, $4)`

// Block takes seats off sale: all of them or none, or as many as are free with BlockRequest.Rest. It returns
// those it did. Refused if one is held or sold, or if there is nothing left to block.
func (s *Sale) Block(ctx context.Context, k BlockRequest) ([]int, error) {
	if k.Reason = strings.TrimSpace(k.Reason); !OneLine(k.Reason, MostReason) {
		return nil, &ValidationError{Message: text.Mark("A reason is one line of at most %d characters. Nothing was changed."), Args: []any{MostReason}}
	}
	return s.changeBlocks(ctx, k, func(r row, b *batch) bool { return r.open(b.now) }, func(c *command, seats []int) func(row) row {
		id := NewID()
		write := c.write
		c.write = func(q *pgx.Batch) {
			q.Queue(blockSQL, id, s.Event.ID, seatsOf(seats), k.Reason)
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
	return s.changeBlocks(ctx, k, func(r row, _ *batch) bool { return r.state == Blocked }, func(*command, []int) func(row) row {
		return func(row) row { return row{} }
	})
}

// changeBlocks changes the seats for which may holds to what is made of them, batch after batch.
func (s *Sale) changeBlocks(ctx context.Context, k BlockRequest, may func(row, *batch) bool, make func(*command, []int) func(row) row) (all []int, err error) {
	seats, err := s.known(k.Seats)
	if err != nil {
		return nil, err
	}
	if len(seats) > blockAtOnce && !k.Rest {
		return nil, &ValidationError{Message: text.Mark("These are %d seats, and at most %d can be changed together. Nothing was changed. Choose fewer, or “As far as possible”."), Args: []any{len(seats), blockAtOnce}}
	}
	for some := range slices.Chunk(seats, blockAtOnce) {
		c := &command{seats: some}
		last := some[len(some)-1] == seats[len(seats)-1]
		c.decide = func(b *batch) (Hold, error) {
			c.write = nil
			fit := slices.DeleteFunc(slices.Clone(some), func(idx int) bool { return !may(b.rows[idx], b) })
			if len(fit) < len(some) && !k.Rest {
				rest := slices.DeleteFunc(slices.Clone(some), func(idx int) bool { return slices.Contains(fit, idx) })
				return Hold{}, &Conflict{Code: CodeTaken, Seats: rest, Message: text.Mark("These seats can’t be changed now: %s. Nothing was changed. Look at their state first."), Args: []any{s.named(rest)}}
			}
			if last && (len(fit) > 0 || len(all) > 0) {
				c.write = k.Also
			}
			if len(fit) > 0 {
				to := make(c, fit)
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

// MostReason is the most characters of a reason, of a status or a block.
const MostReason = 500
