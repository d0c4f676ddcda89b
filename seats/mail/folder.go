package mail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Folder keeps mail as files that mail programs open: for a laptop, where nothing is to be sent and nothing to be lost.
type Folder struct {
	Dir  string
	From Sender
}

// Deliver writes one file. It is there whole or not at all; a second copy takes the place of the first.
func (f Folder) Deliver(_ context.Context, l Letter) error {
	m, err := l.message(f.From)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.Dir, 0o700); err != nil { // letters are their readers' business
		return fmt.Errorf("make the folder of mail: %w", err)
	}
	file, err := os.CreateTemp(f.Dir, ".letter-*")
	if err != nil {
		return fmt.Errorf("write a mail: %w", err)
	}
	_, err = m.WriteTo(file)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(f.Dir, filepath.Base(l.ID)+".eml"))
	}
	if err != nil {
		_ = os.Remove(file.Name()) // half a letter is none
		return fmt.Errorf("write a mail: %w", err)
	}
	return nil
}

// Rest has nothing to close.
func (Folder) Rest() {}

func (f Folder) String() string { return "files in " + f.Dir }

// Nowhere takes mail and drops it: for a house that sends none.
type Nowhere struct{}

// Deliver drops the letter.
func (Nowhere) Deliver(context.Context, Letter) error { return nil }

// Rest has nothing to close.
func (Nowhere) Rest() {}
