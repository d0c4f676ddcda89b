package main

import (
	"cmp"
	"fmt"
	"net/mail"
	"path/filepath"

	post "github.com/usherbox/usher/seats/mail"
)

// checkMail says how mail leaves: through the server that was named, or into a folder, so that nothing is lost on a laptop.
func (cfg *Config) checkMail() error {
	if cfg.SMTP != "" && cfg.MailFrom == "" {
		return usageError{"USHER_SMTP needs --mail-from: the address that attendees see, such as tickets@example.org"}
	}
	from, err := mail.ParseAddress(cmp.Or(cfg.MailFrom, "tickets@localhost"))
	if err != nil {
		return usageError{fmt.Sprintf("--mail-from %q is not an address such as \"Box office <tickets@example.org>\"", cfg.MailFrom)}
	}
	sender := post.Sender{Name: from.Name, Email: from.Address}
	if cfg.SMTP == "" {
		cfg.transport = post.Folder{Dir: filepath.Join(cfg.Data, "mail"), From: sender}
		return nil
	}
	if cfg.transport, err = post.NewSMTP(cfg.SMTP, sender, nil); err != nil {
		return usageError{fmt.Sprintf("USHER_SMTP: %v", err)} // the address itself has a password in it
	}
	return nil
}
