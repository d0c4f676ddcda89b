package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/privacy"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/sessions"
)

// privacyOf is what erases persons of a database, beside a serve or without one.
func privacyOf(pool *pgxpool.Pool, box *seal.Box) *privacy.Privacy {
	p := privacy.New(pool, organizers.New(pool, func() {}))
	p.SealWith(box)
	p.Sessions = sessions.New(pool, nil).Erase
	return p
}

// listErased writes the list of erased persons into a file for its owner.
func (db *database) listErased(ctx context.Context, w io.Writer, file string) error {
	past, err := privacyOf(db.pool, db.box).Past(ctx)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(past, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s has %s, and no address. Keep it apart from the backups that it is for.\n", file, counted(len(past.Erasures), "erasure"))
	return err
}

func readErased(file string) (past *privacy.Past, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the list of erased persons cannot be read: %w", err)
	}
	if err := json.Unmarshal(text, &past); err != nil {
		return nil, usageError{fmt.Sprintf("%s is no list of erased persons, as backup --erased writes it: %v", file, err)}
	}
	return past, nil
}

// eraseAgain erases persons of a restored database, and says whom it had to leave.
func eraseAgain(ctx context.Context, w io.Writer, pool *pgxpool.Pool, box *seal.Box, past privacy.Past) error {
	again, err := privacyOf(pool, box).EraseAgain(ctx, past)
	if err != nil {
		return err
	}
	for _, blocked := range again.Blocked {
		if _, err := fmt.Fprintf(w, "A person could not be erased again yet. %v Erase this person at the desk when that has ended.\n", blocked); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(w, "%s erased again, by a list of %s.\n", counted(again.Persons, "person"), counted(len(past.Erasures), "erasure"))
	return err
}
