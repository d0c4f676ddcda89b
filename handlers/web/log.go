package web

import (
	"time"

	"github.com/usherbox/usher/seats/publiclog"
)

// PublicLog is the public log of a sale, for programs.
type PublicLog struct {
	Enabled    bool       `json:"enabled"`
	Origin     string     `json:"origin"`
	Key        string     `json:"key"`
	Size       int64      `json:"size"`
	Checkpoint string     `json:"checkpoint"`
	SignedAt   *time.Time `json:"signed_at,omitempty"`
}

// LogAnswer is what programs are told of a log.
func LogAnswer(l publiclog.Log) PublicLog {
	a := PublicLog{l.Enabled, l.Origin, l.Verifier, l.Size, l.Checkpoint, nil}
	if !l.SignedAt.IsZero() {
		a.SignedAt = &l.SignedAt
	}
	return a
}
