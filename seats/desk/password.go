package desk

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
)

const (
	leastPassword = 12   // characters
	mostPassword  = 1000 // bytes: nobody needs more, and each costs time
)

// hashing is what OWASP asks of argon2id at least: 19 MiB, two passes, one lane.
var hashing = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// common are the passwords of at least twelve characters that are tried first, one on a line, in small letters.
//
//go:embed common.txt
var commonText string

var common = func() map[string]bool {
	list := map[string]bool{}
	for word := range strings.FieldsSeq(commonText) {
		list[word] = true
	}
	return list
}()

// wrongPassword says why this is no password for somebody of this name and address; empty if it is one.
func wrongPassword(password, name, email string) string {
	small := strings.ToLower(password)
	local, _, _ := strings.Cut(email, "@")
	switch {
	case utf8.RuneCountInString(password) < leastPassword:
		return fmt.Sprintf("A password has %d characters at least. Three or four words will do.", leastPassword)
	case len(password) > mostPassword:
		return fmt.Sprintf("A password has %d bytes at most.", mostPassword)
	case !utf8.ValidString(password):
		return "The password is not valid UTF-8."
	case common[small] || few(small):
		return "This password is among those that are tried first. Three or four words that do not belong together are a good one."
	case small == email || small == strings.ToLower(name) || len(local) >= 4 && strings.Trim(strings.ReplaceAll(small, local, ""), "0123456789!?.-_ ") == "":
		return "This password is your own name or address. Three or four words that do not belong together are a good one."
	}
	return ""
}

// few tells whether a text is made of hardly any characters: aaaaaaaaaaaa, 121212121212.
func few(text string) bool {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen) < 5
}

// hash makes what the database keeps of a password.
func (d *Desk) hash(ctx context.Context, password string) (hash string, err error) {
	err = d.byHand(ctx, func() error {
		hash, err = argon2id.CreateHash(password, hashing)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("desk: hash a password: %w", err)
	}
	return hash, nil
}

// opens tells whether a password is the one of which hash was made. Where there is none it takes as long to say no.
func (d *Desk) opens(ctx context.Context, password, hash string) (ok bool, err error) {
	known := hash != ""
	if !known {
		hash = d.decoy()
	}
	err = d.byHand(ctx, func() error {
		ok, err = argon2id.ComparePasswordAndHash(password, hash)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("desk: look at a password: %w", err)
	}
	return ok && known, nil
}

// byHand does one of the few things that take much memory, when its turn has come.
func (d *Desk) byHand(ctx context.Context, do func() error) error {
	select {
	case d.hands <- struct{}{}:
		defer func() { <-d.hands }()
		return do()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newDecoy is the hash of a password that nobody knows.
func newDecoy() string {
	secret, _ := newToken()
	hash, err := argon2id.CreateHash(secret, hashing)
	if err != nil {
		panic("desk: " + err.Error()) // crypto/rand does not fail
	}
	return hash
}
