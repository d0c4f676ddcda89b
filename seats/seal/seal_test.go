package seal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/usherbox/usher/seats/seal"
)

func box(t *testing.T, list string) *seal.Box {
	t.Helper()
	b, err := seal.New(list)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSeal_OpensOnlyWithItsKeyAndInItsRow(t *testing.T) {
	t.Parallel()
	first, second := seal.NewKey(), seal.NewKey()
	secret := bytes.Repeat([]byte{7}, 32)
	value := box(t, first).Seal(secret, "ticket_key/1")
	if !seal.Sealed(value) || bytes.Contains(value, secret) || len(value) != len(secret)+seal.Overhead {
		t.Fatalf("sealed to %x", value)
	}
	if again := box(t, first).Seal(secret, "ticket_key/1"); bytes.Equal(again, value) {
		t.Error("the same secret is sealed to the same bytes twice")
	}
	if got, err := box(t, second+","+first).Open(value, "ticket_key/1"); err != nil || !bytes.Equal(got, secret) {
		t.Errorf("an older key opens it to %x, %v", got, err)
	}
	broken := bytes.Clone(value)
	broken[len(broken)-1] ^= 1
	for _, test := range []struct {
		name    string
		box     *seal.Box
		value   []byte
		context string
		want    error
	}{
		{"no key", nil, value, "ticket_key/1", seal.ErrNoKey},
		{"another key", box(t, second), value, "ticket_key/1", seal.ErrWrongKey},
		{"another row", box(t, first), value, "ticket_key/2", seal.ErrBroken},
		{"another table", box(t, first), value, "place_key/1", seal.ErrBroken},
		{"a changed bit", box(t, first), broken, "ticket_key/1", seal.ErrBroken},
	} {
		if got, err := test.box.Open(test.value, test.context); !errors.Is(err, test.want) || got != nil {
			t.Errorf("%s: opened to %x, %v", test.name, got, err)
		}
	}
}

func TestSeal_WithoutAKeyNothingChanges(t *testing.T) {
	t.Parallel()
	none := box(t, " \n")
	secret := []byte("0123456789abcdef")
	value := none.Seal(secret, "x/1")
	if !bytes.Equal(value, secret) || none.ID() != "" {
		t.Errorf("sealed to %q by %q", value, none.ID())
	}
	for _, b := range []*seal.Box{none, box(t, seal.NewKey())} {
		if got, err := b.Open(secret, "x/1"); err != nil || !bytes.Equal(got, secret) {
			t.Errorf("opened to %q, %v", got, err)
		}
	}
}

func TestSeal_RefusesAKeyThatIsNone(t *testing.T) {
	t.Parallel()
	for _, list := range []string{"password", "c2hvcnQ=", seal.NewKey() + ",x"} {
		if _, err := seal.New(list); err == nil {
			t.Errorf("%q was taken as a key", list)
		}
	}
}

func TestSeal_FollowsItsFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret.key")
	write := func(keys string) {
		if err := os.WriteFile(file, []byte(keys), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, second := seal.NewKey(), seal.NewKey()
	write(first + "\n")
	b, err := seal.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	value := box(t, second).Seal([]byte("secret"), "x/1")
	if _, err := b.Open(value, "x/1"); !errors.Is(err, seal.ErrWrongKey) {
		t.Errorf("opened by another key: %v", err)
	}
	write(second + "\n" + first + "\n")
	b.Forget()
	if got, err := b.Open(value, "x/1"); err != nil || string(got) != "secret" {
		t.Errorf("after the rotation: %q, %v", got, err)
	}
	if b.ID() != box(t, second).ID() {
		t.Error("the key before still seals")
	}
}
