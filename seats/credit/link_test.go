package credit_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/usherbox/usher/seats/credit"
)

// mailed is the token that the next mail to an address would have in it.
func (p *fixture) mailed(t testing.TB, email string) string {
	t.Helper()
	token, err := p.Link(t.Context(), email)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (p *fixture) asks(t testing.TB, email string) {
	t.Helper()
	if _, err := p.Ask(t.Context(), email, ""); err != nil {
		t.Fatal(err)
	}
}

func TestALinkByMailOpensOnceAndOnlyForItsAddress(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.asks(t, " Ann@Example.org")
	p.asks(t, bob)
	if n := p.number(t, `SELECT count(*) FROM mail WHERE kind = 'link' AND email IN ('ann@example.org', 'bob@example.org')`); n != 2 {
		t.Errorf("%d mails are on their way", n)
	}
	token := p.mailed(t, ann)
	for range 2 { // looking uses nothing up
		if who, err := p.Address(t.Context(), token); err != nil || who != ann {
			t.Errorf("the link is of %q, %v", who, err)
		}
	}
	if who, err := p.Open(t.Context(), token, ""); err != nil || who != ann {
		t.Errorf("the link opened for %q, %v", who, err)
	}
	if _, err := p.Open(t.Context(), token, ""); !errors.Is(err, credit.ErrNoLink) {
		t.Errorf("a second time it got %v", err)
	}
	if n := p.number(t, `SELECT count(*) FROM link, mail WHERE position('`+p.mailed(t, bob)+`' IN (link.*)::text || (mail.*)::text) > 0`); n != 0 {
		t.Error("a table has a token as the mail says it")
	}
}

func TestALinkThatIsOldReplacedOrForgedOpensNothing(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.asks(t, ann)
	first := p.mailed(t, ann)
	second := p.mailed(t, ann)
	if len(second) != 26 {
		t.Errorf("%q is not 128 bits", second)
	}
	bad := map[string]string{"replaced": first, "empty": "", "long": strings.Repeat("0", 1<<20), "in small letters": strings.ToLower(second) + " "}
	for i := range second { // each letter another one
		other := "0"
		if second[i:i+1] == "0" {
			other = "1"
		}
		bad["forged at "+string(rune('a'+i))] = second[:i] + other + second[i+1:]
	}
	for name, token := range bad {
		if _, err := p.Open(t.Context(), token, ""); !errors.Is(err, credit.ErrNoLink) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	p.exec(t, `UPDATE link SET expires_at = now()`)
	if _, err := p.Open(t.Context(), second, ""); !errors.Is(err, credit.ErrNoLink) {
		t.Errorf("an old one got %v", err)
	}
	if _, err := p.Link(t.Context(), bob); !errors.Is(err, credit.ErrNoLink) {
		t.Errorf("an unknown link got %v", err)
	}
}

func TestAnAddressGetsThreeMailsWithinAnHourHoweverManyAskAtOnce(t *testing.T) {
	t.Parallel()
	p := open(t)
	var all sync.WaitGroup
	var refused atomic.Int32
	for range 24 {
		all.Go(func() {
			if _, err := p.Ask(t.Context(), ann, ""); errors.Is(err, credit.ErrOften) {
				refused.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := p.number(t, `SELECT count(*) FROM mail`); n != 3 || refused.Load() != 21 {
		t.Errorf("%d mails were written and %d refused", n, refused.Load())
	}
	p.asks(t, bob)
	p.exec(t, `UPDATE link SET since = since - interval '1 hour'`)
	p.asks(t, ann)
	if _, err := p.Ask(t.Context(), "ann", ""); !errors.Is(err, credit.ErrAddress) {
		t.Errorf("no address got %v", err)
	}
}

func TestLink_IsGoodForOneVisitor(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.asks(t, ann)
	token := p.mailed(t, ann)
	var all sync.WaitGroup
	var in atomic.Int32
	for range 16 {
		all.Go(func() {
			if _, err := p.Open(t.Context(), token, ""); err == nil {
				in.Add(1)
			} else if !errors.Is(err, credit.ErrNoLink) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 {
		t.Errorf("%d came in", in.Load())
	}
}

func TestAFormSentTwiceAsksForOneMailAndOpensOneLink(t *testing.T) {
	t.Parallel()
	p := open(t)
	var crowd sync.WaitGroup
	for range 20 {
		crowd.Go(func() {
			if who, err := p.Ask(t.Context(), ann, "k"); err != nil || who != ann {
				t.Errorf("a repeat got %q, %v", who, err)
			}
		})
	}
	crowd.Wait()
	if n := p.number(t, `SELECT count(*) FROM mail`); n != 1 {
		t.Errorf("%d mails are on their way, want 1", n)
	}
	if _, err := p.Ask(t.Context(), bob, "k"); !errors.Is(err, credit.ErrKey) {
		t.Errorf("the same form with another address got %v", err)
	}
	token := p.mailed(t, ann)
	for range 2 {
		if who, err := p.Open(t.Context(), token, "k"); err != nil || who != ann {
			t.Errorf("the button opened for %q, %v", who, err)
		}
	}
	for _, key := range []string{"", "other"} {
		if _, err := p.Open(t.Context(), token, key); !errors.Is(err, credit.ErrNoLink) {
			t.Errorf("another form with the key %q got %v", key, err)
		}
	}
	p.exec(t, `UPDATE link SET opened_at = now() - interval '2 minutes'`)
	if _, err := p.Open(t.Context(), token, "k"); !errors.Is(err, credit.ErrNoLink) {
		t.Errorf("after two minutes a repeat got %v", err)
	}
}
