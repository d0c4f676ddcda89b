package seats

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"
)

// ID names a holder, a hold or an order: 128 random bits, written as a UUID (RFC 9562, version 4).
type ID [16]byte

// NewID returns an ID nobody can guess.
func NewID() ID {
	var id ID
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// ParseID reads what String wrote.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return ID{}, fmt.Errorf("seats: %q is not an id", s)
	}
	bare := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	if _, err := hex.Decode(id[:], []byte(bare)); err != nil {
		return ID{}, fmt.Errorf("seats: %q is not an id: %w", s, err)
	}
	return id, nil
}

// compare orders IDs as PostgreSQL does: rows are made and locked in this order.
func (id ID) compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// String returns the ID as 36 characters of UUID text.
func (id ID) String() string { return string(id.append(make([]byte, 0, 36))) }

// append writes the ID behind text, as String does.
func (id ID) append(text []byte) []byte {
	text = hex.AppendEncode(text, id[:4])
	for _, group := range [][]byte{id[4:6], id[6:8], id[8:10], id[10:]} {
		text = hex.AppendEncode(append(text, '-'), group)
	}
	return text
}

// MarshalText writes the ID as String does.
func (id ID) MarshalText() ([]byte, error) { return id.append(make([]byte, 0, 36)), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseID(string(text))
	return err
}

// UUIDValue lets pgx write an ID; the zero ID is null.
func (id ID) UUIDValue() (pgtype.UUID, error) {
	return pgtype.UUID{Bytes: id, Valid: id != ID{}}, nil
}

// ScanUUID lets pgx read an ID; null is the zero ID.
func (id *ID) ScanUUID(v pgtype.UUID) error {
	*id = v.Bytes
	if !v.Valid {
		*id = ID{}
	}
	return nil
}
