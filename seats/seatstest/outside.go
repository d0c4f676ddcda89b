package seatstest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
)

// Watched is a provider that is asked only while no transaction is open that stays so over the call: it would keep its
// locks for as long as an outside service takes to answer. A test in which one does fails.
func Watched(t testing.TB, db seats.DB, p payments.Provider) payments.Provider {
	w := Outside{Provider: p, DB: db, Patience: 20 * time.Second, Found: func(what string) { t.Error(what) }}
	if keeper, is := p.(payments.CardStore); is {
		return keeps{w, keeper}
	}
	if cards, is := p.(payments.Cards); is {
		return struct {
			Outside
			payments.OffSession
			payments.Cards
		}{w, p.(payments.OffSession), cards}
	}
	if alone, is := p.(payments.OffSession); is {
		return struct {
			Outside
			payments.OffSession
		}{w, alone}
	}
	return w
}

// Outside is a provider that looks at the transactions of a database before each call.
type Outside struct {
	payments.Provider
	DB       seats.DB
	Patience time.Duration // how long others may need to end a transaction; one that waits for this call never does
	Found    func(what string)
}

// A transaction that ends while the view is read may have no start any more.
const idleSQL = `
SELECT pid || ' since ' || xact_start, query FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%' AND xact_start IS NOT NULL`

// idle are the open transactions with an owner that does something else, by name, with their last statement.
func (o Outside) idle(ctx context.Context) (map[string]string, error) {
	rows, err := o.DB.Query(ctx, idleSQL)
	if err != nil {
		return nil, err
	}
	all, name, query := map[string]string{}, "", ""
	_, err = pgx.ForEachRow(rows, []any{&name, &query}, func() error { all[name] = query; return nil })
	return all, err
}

// look tells of a transaction that is open and does not end before what is asked is answered.
func (o Outside) look(ctx context.Context, asked string) {
	open, err := o.idle(ctx)
	for end := time.Now().Add(o.Patience); len(open) > 0 && err == nil && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
		var now map[string]string
		now, err = o.idle(ctx)
		maps.DeleteFunc(open, func(name, _ string) bool { _, still := now[name]; return !still })
	}
	switch {
	case err != nil && ctx.Err() == nil:
		o.Found(fmt.Sprintf("whether a transaction is open while a provider is asked to %s is not known: %v", asked, err))
	case err == nil && len(open) > 0:
		o.Found(fmt.Sprintf("a transaction stays open while a provider is asked to %s, after %s", asked, strings.Join(slices.Sorted(maps.Values(open)), "; ")))
	}
}

// Authorize is part of payments.Provider, as are the others.
func (o Outside) Authorize(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	o.look(ctx, "authorize")
	return o.Provider.Authorize(ctx, c)
}

func (o Outside) Capture(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	o.look(ctx, "capture")
	return o.Provider.Capture(ctx, c)
}

func (o Outside) Void(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	o.look(ctx, "void")
	return o.Provider.Void(ctx, c)
}

func (o Outside) Refund(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	o.look(ctx, "refund")
	return o.Provider.Refund(ctx, c)
}

func (o Outside) Lookup(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	o.look(ctx, "look up")
	return o.Provider.Lookup(ctx, c)
}

// keeps is an Outside that keeps cards.
type keeps struct {
	Outside
	payments.CardStore
}

func (k keeps) StoreCard(ctx context.Context, what payments.CardRequest) (payments.StoredCard, error) {
	k.look(ctx, "keep a card")
	return k.CardStore.StoreCard(ctx, what)
}

func (k keeps) StoredCard(ctx context.Context, reference string) (payments.StoredCard, error) {
	k.look(ctx, "tell of a card that is kept")
	return k.CardStore.StoredCard(ctx, reference)
}

func (k keeps) DeleteCard(ctx context.Context, reference string) error {
	k.look(ctx, "forget a card")
	return k.CardStore.DeleteCard(ctx, reference)
}
