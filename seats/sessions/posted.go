package sessions

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Posted is a form that somebody sent with a key. It is answered once: a repeat gets the same answer, and does nothing.
// What changes seats, orders or money knows its keys by itself; this is for the rest.
type Posted struct {
	Who  []byte // hash of who sent it and where to: the key is theirs
	Key  string
	Wish []byte // hash of what it says
}

// PostedAnswer is what a form was answered.
type PostedAnswer struct {
	Status  int
	Header  map[string][]string
	Body    []byte
	Entered string // as whom the session went on; empty if as who it was
}

// ErrOtherPost says that a form came before with its key and said something else.
var ErrOtherPost = errors.New("this form was sent before with other content")

// Who began twelve seconds ago and said nothing since is not there any more: another one does it. A repeat waits longer
// than that (handlers.once).
const postSQL = `
INSERT INTO posted AS p (who, key, wish) VALUES ($1, $2, $3)
    ON CONFLICT (who, key) DO UPDATE SET since = clock_timestamp()
 WHERE p.wish = excluded.wish AND p.answer IS NULL AND p.since < clock_timestamp() - interval '12 seconds'`

const postedSQL = `SELECT wish, answer FROM posted WHERE who = $1 AND key = $2`

// Post begins to do what a form says. If it came before, first is false, and the answer is that of the first; nil while
// that one is still at it. ErrOtherPost, and the database's.
func (s *Sessions) Post(ctx context.Context, p Posted) (first bool, answer *PostedAnswer, err error) {
	tag, err := s.db.Exec(ctx, postSQL, p.Who, p.Key, p.Wish)
	if err != nil {
		return false, nil, fmt.Errorf("sessions: post: %w", err)
	}
	if tag.RowsAffected() == 1 {
		return true, nil, nil
	}
	var wish []byte
	err = s.db.QueryRow(ctx, postedSQL, p.Who, p.Key).Scan(&wish, &answer)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil, nil // it came to nothing, a moment ago
	case err != nil:
		return false, nil, fmt.Errorf("sessions: look for a key: %w", err)
	case !bytes.Equal(wish, p.Wish):
		return false, nil, ErrOtherPost
	}
	return false, answer, nil
}

const answerPostSQL = `UPDATE posted SET answer = $3 WHERE who = $1 AND key = $2`

// Answer keeps what a form was answered, for its repeats.
func (s *Sessions) Answer(ctx context.Context, p Posted, answer PostedAnswer) error {
	if _, err := s.db.Exec(ctx, answerPostSQL, p.Who, p.Key, answer); err != nil {
		return fmt.Errorf("sessions: keep an answer: %w", err)
	}
	return nil
}

const unpostSQL = `DELETE FROM posted WHERE who = $1 AND key = $2 AND answer IS NULL`

// Unpost forgets a form that came to nothing: its key may be sent again, with whatever it says then.
func (s *Sessions) Unpost(ctx context.Context, p Posted) error {
	if _, err := s.db.Exec(ctx, unpostSQL, p.Who, p.Key); err != nil {
		return fmt.Errorf("sessions: forget a key: %w", err)
	}
	return nil
}
