package shop

import (
	"context"
	"encoding/base64"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// rotatingBox holds a rotating code, which is one of version 6, and a bar below that shows how long it is good.
const rotatingBox = "0 0 49 51"

// mark is the code of a ticket, as the door reads it now.
func (p OrderPage) mark(t orders.Ticket) views.Mark {
	m := views.QRCode(t.CodeAt(p.Now))
	if t.Rotation != nil {
		m.Box = rotatingBox
	}
	return m
}

// rotationKey is the key of a ticket's rotating code, as the page's script reads it.
func rotationKey(t orders.Ticket) string { return base64.StdEncoding.EncodeToString(t.Rotation) }

// facts are what the scripts of the page know.
func (p OrderPage) facts() templ.Attributes {
	facts := templ.Attributes{"data-slug": p.Event.Slug}
	if p.Order.Rotates {
		facts["data-now"] = strconv.FormatInt(p.Now.UnixMilli(), 10)
	}
	return facts
}

// NextCode is when a browser without scripts loads the page again, for the next code.
func (p OrderPage) NextCode() string {
	left := orders.RotationStep - time.Duration(p.Now.UnixNano())%orders.RotationStep
	return strconv.Itoa(int(left/time.Second)+1) + ";url=" + OrderAddress(p.Order)
}

// RotatesWords tell in a mail why it has no code.
func RotatesWords(ctx context.Context) string {
	return text.T(ctx, "The code on your ticket changes every 15 seconds. Open this link on your phone at the door: a screenshot or a printout will not let you in.")
}

// PassRotates tells why a ticket is kept nowhere but on its page.
func PassRotates(ctx context.Context) string {
	return text.T(ctx, "The code of this ticket changes all the time. Open the ticket’s page at the door.")
}
