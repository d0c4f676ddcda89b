package limit

import (
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// crowd is what the visitors of one network hold of an event. A challenge slows a program down that hoards seats; this stops it: on one
// node the visitors of a network hold so many seats at once and no more, whatever work they do. Seats that are ordered or come back do not
// count, so honest visitors behind one router go on as those before them order.
//
// What is granted adds to the figure, and only a count of the database lowers it: an answer may be a repeat, or late. What a waiting list
// gave a visitor is not counted, nor a hold that had expired when it was counted, and that a payment revived.
type crowd struct {
	asked int // seats of claims that are not answered yet
	held  int // seats of holders
}

// holding is what one visitor holds, as this node knows it.
type holding struct {
	network Network // that their last claim came from
	seats   int
	key     uint64 // hash of the key of their last claim; 0: it had none
	at      time.Time
	unsure  bool // the last claim has no answer, and may be done until unsureFor is over
}

const (
	countEvery = time.Second // at most, while a network is at its limit
	countFor   = 2 * time.Second
	unsureFor  = 30 * time.Second // longer than any claim waits
)

var keySeed = maphash.MakeSeed()

func hashKey(key string) uint64 {
	if key == "" {
		return 0
	}
	return maphash.String(keySeed, key) | 1
}

// uncounted networks have no limit: in private ones a proxy with an unread header may stand in for everybody.
func (n Network) uncounted() bool { return n == 0 || n.Private() }

// Admit reports whether visitors of a network may hold n seats more, for which a visitor asks with the key of a claim, if it has one. What would
// be above the limit of the visitor replaces what they have, and a repeat of their last claim counts nothing. The claim ends with Granted, Refused
// or Unknown, which get asked.
func (e *Event) Admit(ctx context.Context, holder seats.ID, network Network, n int, key string) (asked int, ok bool) {
	sale := e.sale.Load()
	if network.uncounted() || sale == nil {
		return 0, true
	}
	most := max(e.Figures().HeldPerNetwork, sale.Event.SeatsPerHolder) // the limit of one visitor holds in any network
	fits := func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		has, known := e.holders[holder]
		switch {
		case !known:
			asked = n
		case has.network != network: // all that they have moves
			asked = min(n+has.seats, sale.Event.SeatsPerHolder)
		case has.key != 0 && has.key == hashKey(key):
			asked = 0
		default:
			asked = max(0, min(n, sale.Event.SeatsPerHolder-has.seats))
		}
		c := e.crowds[network]
		if asked > 0 && c.asked+c.held+asked > most {
			return false
		}
		c.asked += asked
		e.put(network, c)
		return true
	}
	if fits() {
		return asked, true
	}
	if e.count(ctx, sale); fits() {
		return asked, true
	}
	e.notice(reason(text.Mark("Visitors from %s wait: a network may hold %s seats at once."), network.String(), strconv.Itoa(most)), time.Now())
	return 0, false
}

// Refused ends a claim that the visitor did not get.
func (e *Event) Refused(network Network, asked int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answered(network, asked)
}

// Unknown ends a claim without an answer: its seats count as held until it is sure whether they are.
func (e *Event) Unknown(holder seats.ID, network Network, asked int, key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answered(network, asked)
	e.holds(holder, network, holding{seats: e.holders[holder].seats + asked, key: hashKey(key), unsure: true})
}

// answered ends a claim, under the lock.
func (e *Event) answered(network Network, asked int) {
	if c, known := e.crowds[network]; known {
		c.asked = max(0, c.asked-asked)
		e.put(network, c)
	}
}

// holds records what a visitor of a network holds, under the lock, and not less than before.
func (e *Event) holds(holder seats.ID, network Network, now holding) {
	if network.uncounted() {
		return
	}
	if has, known := e.holders[holder]; known {
		c := e.crowds[has.network]
		c.held -= has.seats
		e.put(has.network, c)
		now.seats = max(now.seats, has.seats)
	}
	if now.seats == 0 {
		return
	}
	if e.holders == nil {
		e.holders = map[seats.ID]holding{}
	}
	now.network, now.at = network, time.Now()
	e.holders[holder] = now
	c := e.crowds[network]
	c.held += now.seats
	e.put(network, c)
}

// count reads what visitors hold, unless that was done within countEvery. Others who need it wait for it.
func (e *Event) count(ctx context.Context, s *seats.Sale) {
	e.counting.Lock()
	defer e.counting.Unlock()
	began := time.Now()
	if began.Sub(e.counted) < countEvery {
		return
	}
	e.counted = began
	e.mu.Lock()
	holders := slices.Collect(maps.Keys(e.holders))
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countFor)
	defer cancel()
	found, err := s.Holding(ctx, holders)
	if err != nil {
		e.all.log.Error("failed to count what visitors hold; a network at its limit waits", "event", e.id, "error", err)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, who := range holders {
		has, known := e.holders[who]
		n := found[who]
		if !known || !has.at.Before(began) || has.unsure && n < has.seats && began.Sub(has.at) < unsureFor {
			continue // it may have changed meanwhile
		}
		c := e.crowds[has.network]
		c.held += n - has.seats
		e.put(has.network, c)
		if has.seats, has.unsure = n, false; n == 0 {
			delete(e.holders, who)
		} else {
			e.holders[who] = has
		}
	}
}

// put keeps a crowd as long as it has something.
func (e *Event) put(network Network, c crowd) {
	switch {
	case c == crowd{}:
		delete(e.crowds, network)
	case e.crowds == nil:
		e.crowds = map[Network]crowd{network: c}
	default:
		e.crowds[network] = c
	}
}
