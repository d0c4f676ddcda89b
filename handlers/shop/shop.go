// Package shop answers attendees: events, claims, checkout, orders, payments, credit, the waiting room and the waiting list.
package shop

import (
	"sync"

	"github.com/usherbox/usher/handlers/web"
)

// Handlers answers the addresses of attendees.
type Handlers struct {
	*web.Server
	geometries sync.Map // by plan hash
	rooms      sync.Map // the events that each waiting room covers, by id
	statuses   sync.Map // of waiting rooms as they are sent, by id
}
