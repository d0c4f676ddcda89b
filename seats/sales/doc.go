// Package sales tells organizers how an event sells: figures, a chart, what needs a person, and a replay.
//
// Stats are a sale as its change log tells it: what was sold when, and what became of each hold. They follow the log from
// where it was read last, which is one row, and have a row for each minute and hour in which something changed. They are a
// function of the log alone, so any node may write it, and the node that is further does. Claims and orders write nothing
// of it, and nothing is read while no dashboard is open. Refusals change nothing and stand in no log: nodes count them, and
// add some seconds' together.
//
// # The way through
//
// live.go answers a dashboard: an Evening keeps the statistics of one event. stats.go applies a change to them, and store.go reads
// and stores them. history.go has minutes and hours, figures.go what follows from them. alert.go finds what needs a
// person, refusal.go counts refused claims, replay.go encodes the change log for the page. seat.go has the past
// of one seat, and reads seats as organizers write them.
package sales
