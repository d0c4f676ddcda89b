package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrUnderWay is the answer to a repeat while the first request takes too long.
var ErrUnderWay = errors.New("the same request is being done")

// patience is how long a repeat waits for the first request.
const patience = 15 * time.Second

// settleTime is how long Once looks for what became of a change. All that time it holds two connections.
const settleTime = 10 * time.Second

// Requests does requests that commit their change in other transactions than the caller's, such as batches of package seats.
// A connection holds the lock of each. They are at most half of the pool, so that the changes find connections.
type Requests struct {
	db     *pgxpool.Pool
	locks  chan struct{}
	settle time.Duration
}

// NewRequests returns the requests of a database.
func NewRequests(db *pgxpool.Pool) *Requests {
	return &Requests{db, make(chan struct{}, max(1, db.Stat().MaxConns()/2)), settleTime}
}

// Once runs do unless the request was done before, and returns its answer. A repeat waits for the first request at an
// advisory lock. do has a context that outlives the sender, and its change's transaction may write the row itself
// (Insert). Otherwise Once writes it. An error of do leaves no row, unless the change was committed all the same.
//
// Errors: ErrOtherKey; ErrUnderWay; those of do; the database's. One of the database's comes in place of do's if it is unknown whether the
// change was committed: a repeat finds out.
func (r *Requests) Once(ctx context.Context, k Key, do func(ctx context.Context) (answer []byte, err error)) (answer []byte, repeat bool, err error) {
	if ctx.Value(locked{}) == nil {
		unlock, err := r.lock(ctx, k)
		if err != nil {
			return nil, false, err
		}
		defer unlock()
	} // else the caller is a request that is locked, and so are its parts
	if repeat, answer, err = k.Find(ctx, r.db); repeat || err != nil {
		return answer, repeat, err
	}
	ctx = context.WithValue(context.WithoutCancel(ctx), locked{}, true)
	answer, err = do(ctx)
	ctx, cancel := context.WithTimeout(ctx, r.settle)
	defer cancel()
	if err == nil {
		_, err = r.db.Exec(ctx, insertSQL, k.scope, k.name, k.request, answer)
	}
	if err != nil { // a COMMIT may have lost its answer
		found, earlier, findErr := k.Find(ctx, r.db)
		switch {
		case findErr != nil:
			return nil, false, fmt.Errorf("idempotency: it is unknown what became of a request that ended with “%v”: %w", err, findErr)
		case found:
			return earlier, true, nil
		}
	}
	return answer, false, err
}

// Alone runs do while no other request is done under the same name. Requests that do makes inside are not locked by themselves.
//
// Errors: ErrUnderWay; those of do; the database's.
func (r *Requests) Alone(ctx context.Context, scope, name string, do func(ctx context.Context) error) error {
	unlock, err := r.lock(ctx, Key{scope: scope, name: name})
	if err != nil {
		return err
	}
	defer unlock()
	return do(context.WithValue(context.WithoutCancel(ctx), locked{}, true))
}

// locked marks the context of a request that is being done.
type locked struct{}

// The transaction is idle while the change runs.
const lockSQL = `SELECT set_config('idle_in_transaction_session_timeout', '1min', true), pg_advisory_xact_lock(hashtextextended($1, house_seed()))`

// lock waits for the lock of a key, and returns the function that gives it back.
func (r *Requests) lock(ctx context.Context, k Key) (unlock func(), err error) {
	select {
	case r.locks <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	tx, err := r.db.Begin(ctx)
	if err != nil {
		<-r.locks
		return nil, fmt.Errorf("idempotency: begin: %w", err)
	}
	unlock = func() {
		_ = tx.Rollback(context.WithoutCancel(ctx)) // a connection that is lost has ended it
		<-r.locks
	}
	waits, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err = tx.Exec(waits, lockSQL, k.scope+" "+k.name); err == nil {
		return unlock, nil
	}
	unlock()
	if ctx.Err() == nil && waits.Err() != nil {
		return nil, ErrUnderWay
	}
	return nil, fmt.Errorf("idempotency: lock a key: %w", err)
}
