package shop

import (
	"context"
	"encoding/base64"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// facts are nil if the page needs no script, which is that of passkeys.
func (p AccountPage) facts() templ.Attributes {
	if p.Script == "" {
		return nil
	}
	return templ.Attributes{}
}

// passkeyPath is the address of a passkey of the account.
func passkeyPath(k credit.Passkey) string {
	return AccountPath + "/passkeys/" + base64.RawURLEncoding.EncodeToString(k.ID)
}

// passkeyDates says when a passkey was added, and used last.
func passkeyDates(ctx context.Context, k credit.Passkey) string {
	if k.UsedAt == nil {
		return text.T(ctx, "added %s, not used yet", views.DayIn(ctx, k.CreatedAt.UTC()))
	}
	return text.T(ctx, "added %[1]s, last used %[2]s", views.DayIn(ctx, k.CreatedAt.UTC()), views.DayIn(ctx, k.UsedAt.UTC()))
}
