package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// owned is one seat: its owner, until when it is protected, and whether it is sold.
type owned struct {
	by    string
	until int64
	order bool
}

// Effects of operations on one seat.
const (
	takes   = iota // it is theirs from then on
	letsGo         // if it is theirs it is free
	extends        // it is theirs, and stays so longer
	sells          // it is theirs, and now the order's
	returns        // it is the order's, and now free
	refused        // it is another's, and not expired
	has            // it is theirs
	hasNot         // it is not theirs
)

var effectNames = [...]string{"takes it", "lets it go", "has it longer", "buys it", "gives it back", "is refused it", "sees it as theirs", "does not see it as theirs"}

// effect is what one operation did to one seat, or found out about it.
type effect struct {
	what  int
	by    string
	order string
	until int64 // its new end
	at    int64 // the latest moment at which it may have been decided; of a refusal, the earliest
}

// slack is how far the clock of the database may be from ours: it is the same one, read twice.
const slack = int64(20 * time.Millisecond)

// oneSeat is a seat as it should be: the whole promise in twenty lines.
var oneSeat = porcupine.Model{
	Init: func() any { return owned{} },
	Step: func(state, input, _ any) (bool, any) {
		s, e := state.(owned), input.(effect)
		switch mine := s.by == e.by && !s.order; e.what {
		case takes:
			return s.by == "" || mine || !s.order && s.until <= e.at+slack, owned{by: e.by, until: e.until}
		case letsGo:
			if mine {
				return true, owned{}
			}
			return true, s
		case extends:
			return mine, owned{by: e.by, until: e.until}
		case sells:
			return mine, owned{by: e.order, order: true}
		case returns:
			return s.order && s.by == e.order, owned{}
		case refused:
			return s.by != "" && !mine && (s.order || s.until > e.at-slack), s
		case has:
			return mine, s
		default: // hasNot
			return !mine, s
		}
	},
	DescribeOperation: func(input, _ any) string {
		e := input.(effect)
		text := e.by + " " + effectNames[e.what]
		if e.until > 0 && e.until < math.MaxInt64/2 {
			text += " until " + clock(e.until)
		}
		return text
	},
	DescribeState: func(state any) string {
		switch s := state.(owned); {
		case s.by == "":
			return "free"
		case s.order:
			return "sold to " + s.by
		default:
			return fmt.Sprintf("of %s until %s", s.by, clock(s.until))
		}
	},
}

func clock(ns int64) string { return time.Unix(0, ns).UTC().Format("15:04:05.000000") }

// storyOf turns the history into that of each seat.
func storyOf(operations []operation) [][]porcupine.Operation {
	stories := make([][]porcupine.Operation, hallSeats)
	for i := range operations {
		o := &operations[i]
		if o.unknown || o.scene != "" {
			continue // the judge says so by itself; other events are judged by their books
		}
		for idx, e := range o.effects() {
			if idx >= 0 && idx < hallSeats {
				stories[idx] = append(stories[idx], porcupine.Operation{ClientId: o.client, Input: e, Call: o.start, Output: nil, Return: o.end})
			}
		}
	}
	return stories
}

// effects are what an operation did to which seats.
func (o *operation) effects() map[int]effect {
	list := map[int]effect{}
	if o.code == "no_hold" {
		o = &operation{kind: kindLook, holder: o.holder, before: o.before, code: o.code} // that is what they learned
	}
	put := func(seats []int, e effect) {
		for _, idx := range seats {
			if _, twice := list[idx]; !twice {
				e.by = o.holder
				list[idx] = e
			}
		}
	}
	switch o.kind {
	case kindClaim, kindBest, kindArea:
		switch {
		case o.granted():
			put(o.got, effect{what: takes, until: o.until, at: o.latest()})
			put(o.before, effect{what: letsGo})
		case o.code == "taken" && !o.newcomer: // what was seen sold may be refused from memory, which may be a moment behind
			put(o.refused, effect{what: refused, at: o.start + o.least})
		}
	case kindRelease:
		if o.granted() {
			put(without(o.asked, o.got), effect{what: letsGo})
		}
	case kindExtend:
		if o.granted() {
			put(o.got, effect{what: extends, until: o.until})
		}
	case kindOrder:
		if o.granted() {
			put(o.got, effect{what: sells, order: o.order})
		}
	case kindCancel:
		if o.granted() {
			put(o.asked, effect{what: returns, order: o.order})
		}
	case kindLook:
		if o.granted() || o.code == "no_hold" {
			put(o.got, effect{what: has})
			put(o.before, effect{what: hasNot})
		}
	}
	return list
}

// latest is the latest moment at which an operation may have been decided, by the database's clock.
func (o *operation) latest() int64 {
	if o.least != o.most { // the clock jumped meanwhile
		return o.end + o.most
	}
	return min(o.now, o.end+o.most)
}

func without(list, gone []int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(idx int) bool { return slices.Contains(gone, idx) })
}

// linear looks for each seat for an order of the operations in which every answer is true.
func (r *run) linear(operations []operation, most time.Duration) {
	until := time.Now().Add(most)
	for idx, story := range storyOf(operations) {
		left := max(time.Until(until), time.Second)
		switch porcupine.CheckOperationsTimeout(oneSeat, story, left) {
		case porcupine.Illegal:
			_, info := porcupine.CheckOperationsVerbose(oneSeat, story, max(time.Until(until), time.Second))
			r.history.violated("linearizability", "seat %s: no order of its %d operations makes every answer true; %s", r.plan.Label(idx), len(story), around(story, info))
		case porcupine.Unknown:
			r.history.violated("linearizability", "seat %s: its %d operations could not be judged within %s", r.plan.Label(idx), len(story), most)
		}
	}
}

// around shows the operations at which the longest true beginning of a story ends.
func around(story []porcupine.Operation, info porcupine.LinearizationInfo) string {
	longest := []int{}
	for _, partition := range info.PartialLinearizations() {
		for _, partial := range partition {
			if len(partial) > len(longest) {
				longest = partial
			}
		}
	}
	text, state := "", any(owned{})
	done := map[int]bool{}
	for n, i := range longest {
		_, state = oneSeat.Step(state, story[i].Input, nil)
		done[i] = true
		if n >= len(longest)-2 {
			text += oneSeat.DescribeOperation(story[i].Input, nil) + "; "
		}
	}
	text += "then it is " + oneSeat.DescribeState(state) + ", and next is one of"
	shown := 0
	order := make([]int, len(story))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(min(max(story[a].Call-story[b].Call, -1), 1)) })
	for _, i := range order {
		if shown < 3 && !done[i] {
			text += fmt.Sprintf(" [%s–%s %s]", clock(story[i].Call), clock(story[i].Return), oneSeat.DescribeOperation(story[i].Input, nil))
			shown++
		}
	}
	return text
}
