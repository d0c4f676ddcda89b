package shop

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	_ "image/jpeg" // logos and posters are JPEG
	"image/png"
	"strings"

	scale "golang.org/x/image/draw"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/wallets"
	"github.com/usherbox/usher/views"
)

// Passes says for which wallets a box office makes passes.
type Passes struct{ Apple, Google bool }

// The ways of a ticket into a wallet, which are parts of its address.
const (
	AppleWallet  = "apple-wallet"
	GoogleWallet = "google-wallet"
)

// PassPath is the address of a ticket for a wallet, behind that of its order.
func PassPath(wallet string, ticket seats.ID) string { return "/" + wallet + "/" + ticket.String() }

// passes are links to keep a ticket in a wallet, behind the address of its order. None if it is not valid, not paid, or of an event without a door.
func (p OrderPage) passes(ctx context.Context, t orders.Ticket) (list []views.Link) {
	if p.PassVoid(ctx, t) != "" || p.Event.Online.On || p.Order.Due() > 0 {
		return nil
	}
	if p.Passes.Apple {
		list = append(list, views.Link{Words: text.T(ctx, "Add to Apple Wallet"), Path: PassPath(AppleWallet, t.ID)})
	}
	if p.Passes.Google {
		list = append(list, views.Link{Words: text.T(ctx, "Add to Google Wallet"), Path: PassPath(GoogleWallet, t.ID)})
	}
	return list
}

// PassLinks are links to keep tickets in wallets, for a mail: whole addresses at home, each with the seat if there are several tickets.
func (p OrderPage) PassLinks(ctx context.Context, home string) (list []views.Link) {
	live := p.Live()
	for _, t := range live {
		for _, l := range p.passes(ctx, t) {
			if l.Path = home + l.Path; len(live) > 1 {
				l.Words += ": " + p.seatWords(ctx, t.Idx)
			}
			list = append(list, l)
		}
	}
	return list
}

// PassVoid says why a ticket is not valid for its holder; empty if it is. The zero ticket is one that they have no more.
func (p OrderPage) PassVoid(ctx context.Context, t orders.Ticket) string {
	switch {
	case p.Event.Status == seats.Cancelled:
		return text.T(ctx, "This event was cancelled.")
	case t.Friend != nil:
		return text.T(ctx, "Sent to %s", t.Friend.Name)
	case t.Code == "":
		return text.T(ctx, "This ticket is no longer valid.")
	case p.Order.Rotates:
		return PassRotates(ctx)
	}
	return ""
}

// Pass is what a ticket says in a wallet. The zero ticket makes a pass that is void.
func (p OrderPage) Pass(ctx context.Context, look Print, t orders.Ticket) (wallets.Pass, error) {
	e := p.Event
	ground, words := look.ground()
	pass := wallets.Pass{
		Language: text.Tag(ctx), Event: e.ID, Name: e.Name, StartsAt: e.Local(e.StartsAt), Number: p.Order.Number(), Ticket: t.ID, Void: p.PassVoid(ctx, t),
		When:   wallets.Field{Key: "when", Label: text.T(ctx, "Date"), Words: views.WhenIn(ctx, e)},
		Place:  wallets.Field{Key: "place", Label: text.T(ctx, "Venue"), Words: views.PlaceIn(ctx, e)},
		Holder: wallets.Field{Key: "name", Label: text.T(ctx, "Name"), Words: p.Order.NameOn(t)},
		Ground: [3]uint8{ground.R, ground.G, ground.B}, Words: [3]uint8{words.R, words.G, words.B},
	}
	if pass.Void == "" {
		pass.Code = t.Code
	}
	if !e.Online.On {
		pass.Venue = e.Venue
	}
	pass.Back = append(pass.Back, wallets.Field{Key: "order", Label: text.T(ctx, "Order number"), Words: pass.Number})
	if look.Branding != nil {
		pass.Team = look.Branding.TeamName
	}
	if look.About != nil {
		p.passFacts(ctx, &pass, look)
	}
	pass.Team = cmp.Or(pass.Team, e.Venue, e.Name)
	if t.ID != (seats.ID{}) && !p.Foreign(t.Idx) {
		pass.Seat = p.passSeat(ctx, t.Idx)
		if gates := p.gates(t.Idx); gates != "" {
			pass.Seat = append(pass.Seat, wallets.Field{Key: "gate", Label: text.T(ctx, "Gate"), Words: gates})
		}
		category := p.Plan.Categories[p.Plan.Seats[t.Idx].Category].Name
		pass.Type = wallets.Field{Key: "type", Label: text.T(ctx, "Ticket"), Words: cmp.Or(t.Type, category)}
		pass.Back = append(pass.Back,
			wallets.Field{Key: "price", Label: text.T(ctx, "Price"), Words: views.PriceIn(ctx, t.Cost(), p.Order.Currency)},
			wallets.Field{Key: "notes", Words: p.paperNotes(ctx, t, category)})
	}
	var err error
	pass.Pictures, err = look.passPictures(cmp.Or(look.Seed, e.Slug))
	return pass, err
}

// passFacts adds to a pass what the page of the event says.
func (p OrderPage) passFacts(ctx context.Context, pass *wallets.Pass, look Print) {
	facts := look.About.Facts
	if facts.Doors > 0 {
		pass.DoorsAt = p.Event.Local(p.Event.StartsAt.Add(-facts.Doors))
		pass.Doors = wallets.Field{Key: "doors", Label: text.T(ctx, "Doors"), Words: views.ClockIn(ctx, p.Event, pass.DoorsAt)}
	}
	pass.Team = cmp.Or(pass.Team, facts.Organizer)
	pass.Address = strings.Join(said(facts.Street, strings.TrimSpace(facts.PostalCode+" "+facts.Town), views.CountryName(ctx, facts.Country)), ", ")
	pass.Back = append(pass.Back, wallets.Field{Key: "address", Label: text.T(ctx, "Address"), Words: pass.Address})
	if contact := text.List(ctx, said(facts.Email, facts.Phone)); contact != "" {
		pass.Back = append(pass.Back, wallets.Field{Key: "contact", Words: text.T(ctx, "Questions? %s", contact)})
	}
}

// passSeat are section, row and seat of a ticket, or area and place.
func (p OrderPage) passSeat(ctx context.Context, idx int) []wallets.Field {
	seat := p.Plan.Seats[idx]
	list := []wallets.Field{{Key: "section", Label: text.T(ctx, "Section"), Words: p.Plan.SectionIn(ctx, seat.Section)}}
	if seat.Row == "" {
		return append(list, wallets.Field{Key: "seat", Label: text.T(ctx, "Place"), Words: seat.Number})
	}
	row := wallets.Field{Key: "row", Label: text.T(ctx, "Row"), Words: seat.Row}
	if seats.OwnName(seat.Row) {
		row.Label = "" // its name says what it is
	}
	return append(list, row, wallets.Field{Key: "seat", Label: text.T(ctx, "Seat"), Words: seat.Number})
}

// passPictures are the icon and the thumbnail of a pass, made of the picture of the event, and the logo of the team.
func (p Print) passPictures(seed string) (files []wallets.File, err error) {
	content := p.Picture
	if content == nil {
		if content, err = views.PosterJPEG(seed); err != nil {
			return nil, err
		}
	}
	picture, _, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("views: read the picture of a pass: %w", err)
	}
	for _, f := range []struct {
		name string
		side int
	}{{"icon.png", 29}, {"icon@2x.png", 58}, {"icon@3x.png", 87}, {"thumbnail.png", 90}, {"thumbnail@2x.png", 180}} {
		if files, err = addPicture(files, f.name, picture, middleSquare(picture.Bounds()), image.Rect(0, 0, f.side, f.side)); err != nil {
			return nil, err
		}
	}
	if p.Logo == nil {
		return files, nil
	}
	logo, _, err := image.Decode(bytes.NewReader(p.Logo))
	if err != nil {
		return files, nil // a pass without a logo is better than none
	}
	for times, name := range []string{"logo.png", "logo@2x.png"} {
		high := 50 * (times + 1)
		wide := min(160*(times+1), logo.Bounds().Dx()*high/max(1, logo.Bounds().Dy()))
		high = min(high, max(1, wide*logo.Bounds().Dy()/max(1, logo.Bounds().Dx())))
		if files, err = addPicture(files, name, logo, logo.Bounds(), image.Rect(0, 0, max(1, wide), high)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// middleSquare is the largest square in the middle of a picture.
func middleSquare(b image.Rectangle) image.Rectangle {
	side := min(b.Dx(), b.Dy())
	at := image.Pt(b.Min.X+(b.Dx()-side)/2, b.Min.Y+(b.Dy()-side)/2)
	return image.Rectangle{at, at.Add(image.Pt(side, side))}
}

// addPicture adds a part of a picture in another size, as PNG.
func addPicture(files []wallets.File, name string, from image.Image, part, size image.Rectangle) ([]wallets.File, error) {
	to := image.NewRGBA(size)
	draw.Draw(to, size, image.NewUniform(color.White), image.Point{}, draw.Src)
	scale.CatmullRom.Scale(to, size, from, part, draw.Over, nil)
	var out bytes.Buffer
	if err := png.Encode(&out, to); err != nil {
		return nil, fmt.Errorf("views: draw a picture of a pass: %w", err)
	}
	return append(files, wallets.File{Name: name, Content: out.Bytes()}), nil
}
