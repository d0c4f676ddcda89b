package privacy

import (
	"bytes"
	"testing"

	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestErasureKey_IsSealedAndStaysTheSame(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	box, err := seal.New(seal.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	p := New(db, nil)
	p.SealWith(box)
	first, err := p.key(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.key(t.Context())
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("the key changed, %v", err)
	}
	var stored []byte
	if err := db.QueryRow(t.Context(), `SELECT secret FROM erasure_key`).Scan(&stored); err != nil || bytes.Contains(stored, first) {
		t.Errorf("the database has the key itself, %v", err)
	}
	if _, err := New(db, nil).key(t.Context()); err == nil {
		t.Error("it opens without the key outside of the database")
	}
}
