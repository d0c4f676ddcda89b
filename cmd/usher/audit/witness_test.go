package audit

import (
	"crypto/rand"
	"slices"
	"strings"
	"testing"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
)

// witness cosigns what it is given.
type witness struct {
	note.Signer
	key note.Verifier
}

func newWitness(t *testing.T, name string) witness {
	t.Helper()
	secret, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := cosignature.NewSignerForCosignatureV1(secret)
	if err != nil {
		t.Fatal(err)
	}
	key, err := cosignature.NewVerifierForCosignatureV1(public)
	if err != nil {
		t.Fatal(err)
	}
	return witness{signer, key}
}

// cosign adds the signature of a witness to a checkpoint.
func (w witness) cosign(t *testing.T, checkpoint string) string {
	t.Helper()
	text, own, _ := strings.Cut(checkpoint, "\n\n")
	signed, err := note.Sign(&note.Note{Text: text + "\n"}, w)
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(signed), "\n\n")
	return text + "\n\n" + own + line
}

func TestAudit_WitnessMustHaveCosignedThisLog(t *testing.T) {
	t.Parallel()
	house := newHouse(t)
	sale := newStory(4)
	before := house.with(slices.Clone(sale.leaves)).checkpoint()
	sale.version(nil, [2]int{0, 5})
	now := house.with(slices.Clone(sale.leaves)).checkpoint()
	other := newStory(4)
	other.at++
	other.version(nil, [2]int{1, 5})
	forked := house.with(other.leaves).checkpoint()
	ann, bob := newWitness(t, "example.org/ann"), newWitness(t, "example.org/bob")
	for what, c := range map[string]struct {
		cosigned string
		problem  string // part of it; empty: there is none
	}{
		"cosigned by both":             {bob.cosign(t, ann.cosign(t, before)), ""},
		"one witness is behind":        {ann.cosign(t, now) + "\n" + bob.cosign(t, before), ""},
		"nothing is cosigned":          {"", "no root that example.org/ann cosigned"},
		"one witness is missing":       {ann.cosign(t, before), "no root that example.org/bob cosigned"},
		"another key of that name":     {bob.cosign(t, newWitness(t, "example.org/ann").cosign(t, before)), "no root that example.org/ann cosigned"},
		"they cosigned another log":    {bob.cosign(t, ann.cosign(t, forked)), "two logs are shown"},
		"the house did not sign it":    {bob.cosign(t, ann.cosign(t, newHouse(t).with(sale.leaves).checkpoint())), "is not signed by the key of this log"},
		"a root of more than there is": {bob.cosign(t, ann.cosign(t, house.with(append(slices.Clone(sale.leaves), other.leaves...)).checkpoint())), "some were removed"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := house.with(sale.leaves)
			h.t, h.cosigned = t, c.cosigned
			r := h.audit(Options{Witnesses: []note.Verifier{ann.key, bob.key}})
			if c.problem == "" && (len(r.Problems) > 0 || len(r.Witnessed) != 2) {
				t.Errorf("%q, %q", r.Problems, r.Witnessed)
			}
			if c.problem != "" && !strings.Contains(strings.Join(r.Problems, "\n"), c.problem) {
				t.Errorf("%q is not among %q", c.problem, r.Problems)
			}
		})
	}
}
