package views_test

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// holes is a value with each of its fields missing in turn, at any depth, by the field's name.
func holes(whole reflect.Value, name string, visit func(name string)) {
	for i := range whole.NumField() {
		field, at := whole.Field(i), name+"."+whole.Type().Field(i).Name
		if whole.Type().Field(i).Type == reflect.TypeFor[*seats.Plan]() {
			at += " (a plan passed its check and has no holes of its own)"
		}
		kept := reflect.New(field.Type()).Elem()
		kept.Set(field)
		field.SetZero()
		visit(at)
		field.Set(kept)
		if field.Kind() == reflect.Struct && field.Type().PkgPath() != "time" {
			holes(field, at, visit)
		}
	}
}

// survives renders a component and tells of a panic.
func survives(c templ.Component) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%v", cause)
		}
	}()
	return c.Render(context.Background(), io.Discard)
}

func TestAMissingFieldCannotPanic(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"theatre", "club", "conference"} {
		for state, hold := range holds {
			full := shop.EventPage{Page: views.Page{Title: "Evening", Nonce: "nonce", Notice: "Done."}, Sale: sale(t, name, hold), Message: &shop.Message{Text: "Gone.", Nearest: []int{8}}}
			check := func(hole string) {
				for _, c := range []templ.Component{
					shop.Event(full), shop.Tray(shop.TrayModel{Sale: full.Sale}), shop.Rows(shop.RowsModel{Sale: full.Sale, Section: 0}), shop.Section(shop.SectionPage{Page: full.Page, Sale: full.Sale, Section: 0, Message: full.Message}),
					shop.Events(shop.EventsPage{Page: full.Page, Found: programme.Page{Cards: []programme.Card{{Event: full.Event}}}}),
					shop.Checkout(typed(full.Page, full.Sale)), shop.Order(ordered(full.Page, full.Sale, "Ann")),
				} {
					if err := survives(c); err != nil {
						t.Errorf("%s with %s, without %s: %v", name, state, hole, err)
					}
				}
			}
			holes(reflect.ValueOf(&full).Elem(), "page", check)
		}
	}
	for what, c := range map[string]templ.Component{
		"event": shop.Event(shop.EventPage{}), "section": shop.Section(shop.SectionPage{Section: 3}), "rows": shop.Rows(shop.RowsModel{Section: -1}), "tray": shop.Tray(shop.TrayModel{}),
		"events": shop.Events(shop.EventsPage{Found: programme.Page{Cards: make([]programme.Card, 1)}}), "waiting room": shop.Room(shop.RoomPage{}), "draw": shop.RoomDraw(shop.DrawPage{}), "error": views.Error(views.ErrorPage{}), "checkout": shop.Checkout(shop.CheckoutPage{}), "order": shop.Order(shop.OrderPage{Order: orders.Order{Tickets: make([]orders.Ticket, 1)}}),
	} {
		if err := survives(c); err != nil {
			t.Errorf("%s without anything: %v", what, err)
		}
	}
	if survives(templ.ComponentFunc(func(context.Context, io.Writer) error { panic("planted") })) == nil {
		t.Error("a panic is not noticed")
	}
}
