package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments/stripe/standin"
)

const unpaidSQL = `SELECT code FROM payment WHERE state = 'open'`

// What is meant is tried again after pauses that grow to minutes. A judge does not wait for them: the bank tells once more.
const underWaySQL = `
SELECT DISTINCT p.reference FROM payment p
  LEFT JOIN intention i ON i.payment_id = p.id AND i.done_at IS NULL
  LEFT JOIN inbox n ON n.payment_id = p.id AND n.done_at IS NULL
 WHERE i.id IS NOT NULL OR n.payment_id IS NOT NULL`

// What should happen to payments and does not, to find out why.
const stuckSQL = `
SELECT format('%s of a payment that is %s: %s tries, the last one at %s, the next one at %s, %s', i.step, p.state, i.tries, i.tried_at, i.next_try, i.error)
  FROM intention i JOIN payment p ON p.id = i.payment_id WHERE i.done_at IS NULL LIMIT 5`

// settleMoney has everybody stop who has not paid, and waits until nothing is under way between the box office and the bank.
func (r *run) settleMoney(ctx context.Context) error {
	var codes []string
	err := r.within(ctx, func(conn *pgx.Conn) (err error) {
		codes, err = texts(ctx, conn, unpaidSQL)
		return err
	})
	if err != nil {
		return err
	}
	c := r.newClient(-1)
	c.scene = scenePaid
	for _, code := range codes {
		c.does(ctx, kindPayment, http.MethodGet, "/payments/"+code+"?back", nil)
		c.does(ctx, kindStop, http.MethodPost, "/payments/"+code+"/stop", map[string]any{})
	}
	var left []string
	so := r.becomesWithin(ctx, max(r.settings.patience, time.Minute), func() bool { // what a node had begun that died is left alone for 15 s
		err := r.within(ctx, func(conn *pgx.Conn) (err error) {
			left, err = texts(ctx, conn, underWaySQL)
			return err
		})
		if err != nil || len(left) == 0 {
			return err == nil
		}
		for _, session := range left {
			if session != "" {
				c.told(ctx, session)
			}
		}
		return seats.Sleep(ctx, 500*time.Millisecond) != nil
	})
	if !so {
		var why []string
		err := r.within(ctx, func(conn *pgx.Conn) (err error) {
			why, err = texts(ctx, conn, stuckSQL)
			return err
		})
		r.history.violated("money", "%d payments are still under way long after everything was healed: %v, %v", len(left), why, err)
	}
	return ctx.Err()
}

func texts(ctx context.Context, conn *pgx.Conn, sql string) ([]string, error) {
	rows, _ := conn.Query(ctx, sql) // CollectRows returns its error
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

const moneySQL = `
SELECT coalesce((SELECT paid FROM orders o WHERE o.id = p.order_id), 0),
       EXISTS (SELECT FROM orders o WHERE o.id = p.order_id),
       coalesce((SELECT sum(amount) FROM refund WHERE payment_id = p.id), 0)::bigint,
       coalesce((SELECT sum(amount) FROM refund WHERE payment_id = p.id AND done_at IS NOT NULL), 0)::bigint
  FROM payment p WHERE p.id::text = $1`

// checkMoney holds the bank's books against ours: each cent that was taken is in an order or went back, money is taken once
// and only for seats that were sold, and the bank keeps no promised money without an order.
func (r *run) checkMoney(ctx context.Context) error {
	return r.within(ctx, func(conn *pgx.Conn) error {
		for _, s := range r.bank.Sessions() {
			wrong, err := oneCent(ctx, conn, &s)
			if err != nil {
				return err
			}
			if wrong != "" {
				r.history.violated("money", "the bank's %s: %s", s.ID, wrong)
			}
			r.captured += s.Captured
			r.refunded += s.Refunded
		}
		return nil
	})
}

// oneCent says what is wrong with the money of one payment.
func oneCent(ctx context.Context, conn *pgx.Conn, s *standin.Session) (wrong string, err error) {
	var paid, back, done int64
	var ordered bool
	err = conn.QueryRow(ctx, moneySQL, s.Payment).Scan(&paid, &ordered, &back, &done)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "no payment knows it, and its state is " + s.Intent, nil
	case err != nil:
		return "", err
	case s.Captured != paid+back || s.Refunded != back || back != done:
		return fmt.Sprintf("it took %d and gave back %d; the order has %d of it, refunds are %d, of which %d are done", s.Captured, s.Refunded, paid, back, done), nil
	case s.Intent == "requires_capture":
		return fmt.Sprintf("it keeps %d without an order", s.Amount), nil
	case s.Captures > 1:
		return fmt.Sprintf("%d was taken %d times", s.Amount, s.Captures), nil
	case s.Captures > 0 && !ordered && !s.ByItself:
		return fmt.Sprintf("%d was taken, and no seat was sold for it", s.Amount), nil
	}
	return "", nil
}
