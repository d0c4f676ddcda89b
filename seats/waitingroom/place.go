package waitingroom

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"

	"github.com/usherbox/usher/seats"
)

// Kind is which of the two ways into a room a place is of.
type Kind uint8

// The kinds of places.
const (
	Lobby Kind = 1 // its number is drawn
	Line  Kind = 2 // its number follows those of the lobby, in the order of coming
)

// Place is what somebody who waits has: nothing of it is stored, a browser keeps it.
type Place struct {
	Room  int64
	Epoch int32
	Kind  Kind
	Index int64 // from 1, without gaps
}

const (
	placeVersion = 1
	placeBody    = 1 + 2 + 8 + 4 + 1 + 8 // version, key, room, epoch, kind, index
	placeMAC     = 16
)

// Sign writes a place down for the one holder it is good for, in 54 letters that fit a cookie.
func (g *Gate) Sign(ctx context.Context, p Place, holder seats.ID) (string, error) {
	k, err := g.keys.signing(ctx)
	if err != nil {
		return "", err
	}
	b := make([]byte, 0, placeBody+placeMAC)
	b = append(b, placeVersion)
	b = binary.BigEndian.AppendUint16(b, k.id)
	b = binary.BigEndian.AppendUint64(b, uint64(p.Room))
	b = binary.BigEndian.AppendUint32(b, uint32(p.Epoch))
	b = append(b, byte(p.Kind))
	b = binary.BigEndian.AppendUint64(b, uint64(p.Index))
	return base64.RawURLEncoding.EncodeToString(append(b, k.mac(b, holder)...)), nil
}

// Read reads what Sign wrote. ErrNoPlace if it is another holder's or nobody's.
func (g *Gate) Read(ctx context.Context, text string, holder seats.ID) (Place, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != placeBody+placeMAC || b[0] != placeVersion {
		return Place{}, ErrNoPlace
	}
	k, err := g.keys.find(ctx, binary.BigEndian.Uint16(b[1:]))
	if err != nil {
		return Place{}, err
	}
	if !hmac.Equal(b[placeBody:], k.mac(b[:placeBody], holder)) {
		return Place{}, ErrNoPlace
	}
	return Place{
		Room:  int64(binary.BigEndian.Uint64(b[3:])),
		Epoch: int32(binary.BigEndian.Uint32(b[11:])),
		Kind:  Kind(b[15]),
		Index: int64(binary.BigEndian.Uint64(b[16:])),
	}, nil
}

// place reads a place of this room and of its epoch.
func (r *Room) place(ctx context.Context, text string, holder seats.ID) (Place, error) {
	p, err := r.gate.Read(ctx, text, holder)
	if err == nil && (p.Room != r.ID || p.Epoch != r.state.Load().Epoch) {
		err = ErrNoPlace
	}
	return p, err
}
