package organizers

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"github.com/usherbox/usher/seats/text"
)

const (
	leastPassword = 12   // characters; wrongPassword says so, too
	mostPassword  = 1000 // bytes: more are not needed, and each costs time
)

// hashing is what OWASP asks of argon2id at least: 19 MiB, two passes, one lane.
var hashing = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// common are passwords that are tried first, and the words that most passwords are made of, one on a line, in small letters:
// from the lists of breached passwords in zxcvbn-ts (MIT licence, Copyright (c) Dropbox, Inc. and contributors).
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

// wrongPassword says why this is no password for an organizer of this name and address; empty if it is one.
func wrongPassword(password, name, email string, more ...string) string {
	small := strings.ToLower(password)
	local, _, _ := strings.Cut(email, "@")
	switch {
	case utf8.RuneCountInString(password) < leastPassword:
		return text.Mark("Use at least 12 characters. Three or four words will do.")
	case len(password) > mostPassword:
		return text.Mark("A password has 1,000 bytes at most.")
	case !utf8.ValidString(password):
		return text.Mark("The password is not valid UTF-8.")
	case common[small] || few(small) || easy(small, append(more, name, email)):
		return text.Mark("This password is among those that are tried first. Use three or four unrelated words.")
	case small == email || small == strings.ToLower(name) || len(local) >= 4 && strings.Trim(strings.ReplaceAll(small, local, ""), "0123456789!?.-_ ") == "":
		return text.Mark("This password is your own name or address. Use three or four unrelated words.")
	}
	return ""
}

// ourWords are words of this trade: guesses begin with them.
var ourWords = []string{"usher", "box", "office", "boxoffice", "theatre", "theater", "ticket", "tickets", "ticketing", "stage", "seat", "seats", "concert", "festival", "cinema", "event", "events", "organizer", "organiser", "desk"}

// leet undoes the usual replacements of letters.
var leet = strings.NewReplacer("@", "a", "4", "a", "3", "e", "1", "i", "!", "i", "0", "o", "5", "s", "$", "s", "7", "t")

// easy reports whether a password is made of at most two parts that are easy to guess: common words, digits in fours, other
// letters. Words of the trade, of the person and of their team, runs such as 1234 or aaaa, what stands between words and
// what is repeated count for nothing.
func easy(small string, own []string) bool {
	free := map[string]bool{}
	for _, text := range append(own, ourWords...) {
		for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if len(word) >= 3 {
				free[word] = true
			}
		}
	}
	return parts(small, free) <= 2 || parts(leet.Replace(small), free) <= 2
}

// parts is the least number of parts that a text is made of, as easy counts them.
func parts(text string, free map[string]bool) int {
	const longest = 32
	least := make([]int, len(text)+1)
	for end := 1; end <= len(text); end++ {
		least[end] = least[end-1] + 1
		if c := text[end-1]; c < 0x80 && !unicode.IsLetter(rune(c)) && !unicode.IsDigit(rune(c)) {
			least[end] = least[end-1]
		}
		for start := max(0, end-longest); start < end; start++ {
			word, cost := text[start:end], 1
			switch {
			case free[word], isRun(word), start >= len(word) && text[start-len(word):start] == word && least[start] > least[start-len(word)]:
				cost = 0
			case common[word], len(word) <= 4 && strings.Trim(word, "0123456789") == "":
			default:
				continue
			}
			least[end] = min(least[end], least[start]+cost)
		}
	}
	return least[len(text)]
}

// isRun reports whether letters or digits follow each other one by one, or are all the same: 3456, dcba, aaa.
func isRun(word string) bool {
	if len(word) < 3 {
		return false
	}
	step := int(word[1]) - int(word[0])
	for i := 2; i < len(word); i++ {
		if int(word[i])-int(word[i-1]) != step {
			return false
		}
	}
	return step >= -1 && step <= 1
}

// few reports whether a text is made of hardly any characters: aaaaaaaaaaaa, 121212121212.
func few(text string) bool {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen) < 5
}

// hash makes what the database keeps of a password.
func (d *Desk) hash(ctx context.Context, password string) (hash string, err error) {
	err = d.byHand(ctx, inLine*4, func() error {
		hash, err = argon2id.CreateHash(password, hashing)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("organizers: hash a password: %w", err)
	}
	return hash, nil
}

// opens reports whether a password is the one of which hash was made. Where there is none it takes as long to say no. Of
// strangers few wait in line, so that a flood of theirs delays no member. ErrBusy if the line is full.
func (d *Desk) opens(ctx context.Context, password, hash string, known bool) (ok bool, err error) {
	has, most := hash != "", inLine
	if known {
		most *= 4
	}
	if !has {
		hash = d.decoy()
	}
	err = d.byHand(ctx, int64(most), func() error {
		ok, err = argon2id.ComparePasswordAndHash(password, hash)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("organizers: look at a password: %w", err)
	}
	return ok && has, nil
}

// inLine is how many passwords may wait to be looked at, at some twenty milliseconds each.
const inLine = 16

// byHand does one of the few things that take much memory, when its turn has come. ErrBusy if most wait already.
func (d *Desk) byHand(ctx context.Context, most int64, do func() error) error {
	defer d.queue.Add(-1)
	if d.queue.Add(1) > most {
		return ErrBusy
	}
	select {
	case d.hands <- struct{}{}:
		defer func() { <-d.hands }()
		return do()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newDecoy is the hash of a random password that is not stored.
func newDecoy() string {
	secret, _ := newToken()
	hash, err := argon2id.CreateHash(secret, hashing)
	if err != nil {
		panic("organizers: " + err.Error()) // crypto/rand does not fail
	}
	return hash
}
