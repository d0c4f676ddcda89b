// Package shop answers attendees: events, claims, checkout, orders, payments, credit, the waiting room and the waiting list.
package shop

import (
	"context"
	"errors"
	"sync"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/waitlist"
)

// Handlers answers the addresses of attendees.
type Handlers struct {
	*web.Server
	geometries sync.Map // by plan hash
	rooms      sync.Map // the events that each waiting room covers, by id
	statuses   sync.Map // of waiting rooms as they are sent, by id
	cards      pictures
}

// problems are the words for errors of waiting rooms and waiting lists.
var problems = web.Problems{
	waitingroom.ErrNoRoom:   web.ErrNoRoom,
	waitingroom.ErrNotYet:   errNotYet,
	waitingroom.ErrEnded:    errRoomEnded,
	waitingroom.ErrEmail:    errInvited,
	waitingroom.ErrNoPlace:  errNoPlace,
	waitingroom.ErrWork:     errWork,
	waitingroom.ErrPatience: errPatience,
	waitlist.ErrNoEntry:     web.ErrNoEntry,
	waitlist.ErrOver:        web.ErrOver,
	waitlist.ErrOften:       errWaitOften,
}

// Explain returns the words for an error of a waiting room or a waiting list; nil for other errors.
func Explain(ctx context.Context, err error) *web.Problem {
	var mistakes waitlist.Mistakes
	if errors.As(err, &mistakes) {
		return web.NewProblem(422, "invalid", "%s", web.WaitHolds, text.Mark("Change it and send it again.")).Filled(mistakes)
	}
	return problems.Of(err)
}
