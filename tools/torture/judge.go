package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/verify"
)

// checkWhole holds a granted claim against what was asked for: all of it or nothing.
func (r *run) checkWhole(o *operation, hold string) {
	fresh := o.got
	if o.hold == hold {
		fresh = without(o.got, o.before)
	}
	switch {
	case o.kind == kindClaim && len(without(o.asked, o.got)) > 0:
		r.history.violated("all or nothing", "%s asked for %s and was granted %s", o.holder, r.labelsOf(o.asked), r.labelsOf(o.got))
	case o.kind != kindClaim && len(fresh) != o.wanted && o.hold == hold,
		o.kind != kindClaim && len(o.got) != o.wanted && o.hold != hold:
		r.history.violated("all or nothing", "%s asked for %d seats and was granted %s, having %s", o.holder, o.wanted, r.labelsOf(o.got), r.labelsOf(o.before))
	}
	if len(o.got) > hallLimit {
		r.history.violated("limit", "%s was granted %d seats, and %d is the limit", o.holder, len(o.got), hallLimit)
	}
}

func (r *run) checkOrder(o *operation) {
	want := slices.Sorted(slices.Values(o.asked))
	if !slices.Equal(want, slices.Sorted(slices.Values(o.got))) {
		r.history.violated("orders", "%s ordered %s and got tickets for %s", o.holder, r.labelsOf(o.asked), r.labelsOf(o.got))
	}
}

func (r *run) labelsOf(seats []int) string {
	var words []string
	for _, idx := range seats {
		if idx < 0 || idx >= hallSeats {
			words = append(words, fmt.Sprint("number ", idx))
			continue
		}
		words = append(words, r.plan.Label(idx))
	}
	return "[" + strings.Join(words, " ") + "]"
}

// verifyBooks holds every promise against one snapshot of the database. During faults a look that was cut says nothing.
func (r *run) verifyBooks(ctx context.Context, when string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := r.server.connect(ctx, r.database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }() // it only read
	report, err := verify.Look(ctx, conn, "")
	if err != nil {
		return err
	}
	r.snapshots.Add(1)
	for _, p := range report.Promises {
		for _, f := range p.Findings {
			r.history.violated("books", "%s, %s: %s", p.Name, when, f)
		}
	}
	return nil
}

// lookShare is the pause between two looks, as a multiple of the time that one takes.
const lookShare = 4

// lookOn looks at the books while the faults last. A look is heavy: none begins while something is measured.
func (r *run) lookOn(ctx context.Context) {
	for ctx.Err() == nil {
		over := r.beside()
		began := time.Now()
		_ = r.verifyBooks(ctx, "during the faults") // a look that was cut by a fault is taken again
		over()
		_ = seats.Sleep(ctx, max(r.settings.Look, lookShare*time.Since(began))) // the loop asks ctx; the books grow
	}
}

const deadlocksSQL = `SELECT coalesce(sum(deadlocks), 0)::bigint FROM pg_stat_database WHERE datname = $1`

// judge is for the end, when everything is healed and every answer is in.
func (r *run) judge(ctx context.Context) error {
	for _, step := range r.steps() {
		if err := step(ctx); err != nil || r.enough() {
			return err
		}
	}
	return nil
}

// steps are what is judged, one after the other.
func (r *run) steps() []func(context.Context) error {
	switch {
	case r.settings.Until == nil: // maps while the sockets are open, what takes long last
		return []func(context.Context) error{r.judgeAnswers, r.judgeBooks, r.judgeScenes, r.checkOrders, r.converge, r.judgeSeats, r.judgeLogs, r.judgeNodes}
	case r.settings.provoke == nil: // the judge first that finds bugs soonest
		return []func(context.Context) error{r.judgeAnswers, r.judgeBooks, r.checkOrders, r.judgeSeats, r.judgeScenes, r.judgeLogs, r.converge, r.judgeNodes}
	default: // what has to be waited for is where it is provoked
		return []func(context.Context) error{r.judgeAnswers, r.judgeBooks, r.checkOrders, r.judgeSeats, r.judgeScenes, r.judgeLogs, r.judgeNodes}
	}
}

func (r *run) judgeAnswers(context.Context) error {
	for _, o := range r.history.all() {
		if o.unknown {
			r.history.violated("answers", "%s: %s was never answered, asked %d times", o.holder, o.kind, o.tries)
		}
	}
	return nil
}

func (r *run) judgeBooks(ctx context.Context) error {
	return r.verifyBooks(ctx, "when everybody had their answer")
}

// judgeSeats looks whether the story of each seat is that of one seat.
func (r *run) judgeSeats(ctx context.Context) error {
	operations := r.history.all()
	ghosts, err := r.ghosts(ctx, operations)
	if err != nil {
		return err
	}
	r.ghostly = len(ghosts)
	r.linear(append(operations, ghosts...), r.settings.Judge)
	return nil
}

// judgeNodes is for what the programs themselves did, and how long things took.
func (r *run) judgeNodes(ctx context.Context) error {
	r.judgeOutages()
	r.judgeFigures()
	for _, n := range r.nodes {
		if err := n.fault(); err != nil {
			r.history.violated("nodes", "%v", err)
		}
		if n.log.said(panicWords) > 0 {
			r.history.violated("nodes", "node %d panicked:\n%s", n.number, n.log)
		}
	}
	r.judgeLocks()
	return errors.Join(r.verifyBooks(ctx, "at the end"), r.countDeadlocks(ctx))
}

// judgeLocks asks the nodes, who notice a deadlock at once.
func (r *run) judgeLocks() {
	for _, n := range r.nodes {
		if times := n.log.said(deadlockWords); times > 0 {
			r.history.violated("deadlocks", "node %d saw %d of its batches undone because two waited for each other", n.number, times)
		}
	}
}

// judgeScenes is for what was tried beside the hall.
func (r *run) judgeScenes(ctx context.Context) error {
	if r.plays(sceneRoom) {
		if err := r.checkRoom(ctx); err != nil {
			return err
		}
	}
	if r.plays(sceneDoor) {
		r.judgeDoor(r.settings.Judge)
	}
	if !r.plays(scenePaid) || r.enough() {
		return nil
	}
	if err := r.settleMoney(ctx); err != nil {
		return err
	}
	return r.checkMoney(ctx)
}

// countDeadlocks reads the server's log, and asks for its count, which begins anew when it is killed.
func (r *run) countDeadlocks(ctx context.Context) error {
	conn, err := r.server.connect(ctx, r.database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // it only read
	var n int64
	if err := conn.QueryRow(ctx, deadlocksSQL, r.database).Scan(&n); err != nil {
		return err
	}
	said, err := r.server.deadlocks(r.database)
	if n = max(n, int64(len(said))); n > 0 {
		r.history.violated("deadlocks", "the database undid %d transactions because two waited for each other:\n%s", n, strings.Join(said[:min(len(said), 5)], ""))
	}
	return err
}

const ordersSQL = `
SELECT o.code, array_agg(t.idx ORDER BY t.idx) FILTER (WHERE t.revoked_at IS NULL)
  FROM orders o JOIN ticket t ON t.order_id = o.id
 WHERE o.state = 'confirmed'
 GROUP BY o.code`

// checkOrders looks for every order that was confirmed and not cancelled: it must be there, with its tickets.
func (r *run) checkOrders(ctx context.Context) error {
	conn, err := r.server.connect(ctx, r.database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // it only read
	rows, err := conn.Query(ctx, ordersSQL)
	if err != nil {
		return err
	}
	defer rows.Close()
	there := map[string][]int{}
	for rows.Next() {
		var code string
		var seats []int
		if err := rows.Scan(&code, &seats); err != nil {
			return err
		}
		there[code] = seats
	}
	if err := rows.Err(); err != nil {
		return err
	}
	r.orders.Range(func(_, value any) bool {
		o := value.(order)
		if !slices.Equal(slices.Sorted(slices.Values(o.seats)), there[o.code]) {
			r.history.violated("orders", "order %s was confirmed with %s, and in the end it has %s", o.code, r.labelsOf(o.seats), r.labelsOf(there[o.code]))
		}
		return true
	})
	return r.checkLost(ctx, conn)
}

const allOrdersSQL = `SELECT code FROM orders`

// checkLost looks for every order that was ever confirmed, also if it was cancelled since.
func (r *run) checkLost(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, allOrdersSQL)
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, code := range list {
		there[code] = true
	}
	for _, o := range r.history.all() {
		if o.order == "" || o.kind != kindOrder || !o.granted() {
			continue
		}
		if r.confirmed++; !there[o.order] {
			r.lost++
			r.history.violated("orders", "order %s was confirmed to %s and is not there", o.order, o.holder)
		}
	}
	return nil
}
