package shop

import (
	"context"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/pdf"
)

// The colours of tickets. The paper itself is white.
var (
	white = pages.Colour{R: 255, G: 255, B: 255}
	ink   = pages.Colour{R: 23, G: 22, B: 26}
	muted = pages.Colour{R: 92, G: 87, B: 78}
	faint = pages.Colour{R: 222, G: 218, B: 208}
)

// ticketPrinter draws tickets in the layout of a team.
type ticketPrinter struct {
	pen     *pen
	look    Print
	plan    *seats.Plan
	layout  string     // one of pages.Layouts
	picture *pdf.Image // nil without one
	logo    *pdf.Image // nil without one
	black   bool       // the printer has no other colour
}

// takePictures puts the pictures of tickets into the document, once for all of them. A ticket without a picture is better than none.
func (t *ticketPrinter) takePictures(seed, paper string) error {
	if paper == pages.Roll {
		if logo := t.look.stencil(); logo != nil {
			t.logo = t.pen.doc.Dots(logo)
		}
		return nil
	}
	t.logo = t.look.takeLogo(t.pen.doc)
	if t.layout == "plain" {
		return nil
	}
	if t.look.Picture == nil {
		var err error
		if t.look.Picture, err = views.PosterJPEG(seed); err != nil {
			return err
		}
	}
	if picture, err := t.pen.doc.JPEG(t.look.Picture); err == nil {
		t.picture = picture
	}
	return nil
}

// write takes the colour of what is written next.
func (t *ticketPrinter) write(c pages.Colour) {
	if t.black {
		c = pages.Colour{}
	}
	t.pen.doc.Colour = pdf.Colour(c)
}

func (t *ticketPrinter) fill(c pages.Colour, b box) {
	t.pen.doc.Colour = pdf.Colour(c)
	t.pen.doc.Rectangle(b.x, b.y, b.w, b.h, 0).Fill()
}

// mirrored is a box within another one, at its other side where lines begin at the right.
func (t *ticketPrinter) mirrored(b, within box) box {
	if t.pen.rtl {
		b.x = 2*within.x + within.w - b.x - b.w
	}
	return b
}

// rule draws a line between two points, whole or as one to tear along.
func (t *ticketPrinter) rule(x1, y1, x2, y2 float64, tear bool) {
	if t.pen.dry {
		return
	}
	pen := pdf.Pen{Colour: pdf.Colour(faint), Width: 0.25}
	if tear {
		pen = pdf.Pen{Colour: pdf.Colour(muted), Width: 0.25, Dash: [2]float64{1.4, 1.2}}
	}
	t.pen.doc.Pen = pen
	t.pen.doc.Line(x1, y1, x2, y2)
}

// Sizes of a ticket on A4, in millimetres. Three go on a page, and a page of US Letter holds them as well.
const (
	sheetTop    = 20.0
	ticketHigh  = 76.0
	ticketStub  = 56.0
	ticketApart = 6.0
)

// sheets prints three tickets on each page of A4, each with a stub to tear off.
func (t *ticketPrinter) sheets(ctx context.Context, tickets []printed) {
	for i, w := range tickets {
		if i%3 == 0 {
			t.pen.doc.Page(pdf.A4Width, pdf.A4Height)
			t.sheetEdges(ctx, w, len(tickets))
		}
		t.sheetTicket(w, box{paperLeft, sheetTop + float64(i%3)*(ticketHigh+ticketApart), paperWidth, ticketHigh})
	}
}

// sheetEdges writes above and below the tickets of a page: from where they are, and how they are used.
func (t *ticketPrinter) sheetEdges(ctx context.Context, w printed, n int) {
	page := box{0, 0, pdf.A4Width, pdf.A4Height}
	if t.look.Branding != nil {
		t.write(ink)
		t.pen.fit(t.mirrored(box{paperLeft, 9, 84, 9}, page), titleFace, 13, 8, t.look.Branding.TeamName)
	}
	t.write(muted)
	order := w.order + " · " + text.N(ctx, "%d ticket", "%d tickets", n)
	end := t.mirrored(box{paperLeft + 90, 11, 90, 8}, page)
	t.pen.right = !t.pen.right // at the other end
	t.pen.fit(end, textFace, 8.5, 7, order)
	t.pen.right = !t.pen.right
	foot := sheetTop + 3*ticketHigh + 2*ticketApart + 3
	foot = t.pen.fit(box{paperLeft, foot, paperWidth, 5}, textFace, 8.5, 7, text.T(ctx, "Each code is valid once. Print the tickets, or show them on your phone."))
	if t.look.About != nil {
		facts := t.look.About.Facts
		if contact := text.List(ctx, said(facts.Email, fromLeft(facts.Phone))); contact != "" {
			t.pen.fit(box{paperLeft, foot, paperWidth, 5}, textFace, 8.5, 6, text.T(ctx, "Questions? %s", contact))
		}
	}
}

// fromLeft makes digits and signs stand from the left among words from the right.
func fromLeft(text string) string {
	const mark = "\u200e"
	if text == "" {
		return ""
	}
	return mark + text + mark
}

// sheetTicket draws one ticket with its stub.
func (t *ticketPrinter) sheetTicket(w printed, b box) {
	doc := t.pen.doc
	main := t.mirrored(box{b.x, b.y, b.w - ticketStub, b.h}, b)
	inside := box{main.x + 6, main.y + 5, main.w - 12, 23}
	edge := doc.Rectangle(b.x, b.y, b.w, b.h, 4)
	edge.Clip(func() {
		switch {
		case t.layout == "classic":
			t.strip(box{main.x, main.y, main.w, 28}, 44)
		case t.layout == "poster" && t.picture != nil:
			picture := t.mirrored(box{main.x, main.y, 46, main.h}, main)
			doc.Cover(t.picture, picture.x, picture.y, picture.w, picture.h)
			inside = t.mirrored(box{main.x + 52, inside.y, inside.w - 46, inside.h}, main)
		}
	})
	switch {
	case t.layout == "classic":
		t.heading(w, t.beside(inside, 44))
	default:
		t.heading(w, inside)
		t.rule(inside.x, b.y+29, inside.x+inside.w, b.y+29, false)
	}
	t.middle(w, box{inside.x, b.y + 31, inside.w, b.h - 31})
	stub := t.mirrored(box{b.x + main.w, b.y, ticketStub, b.h}, b)
	tear := max(main.x, stub.x)
	t.rule(tear, b.y+3, tear, b.y+b.h-3, true)
	t.stub(w, stub)
	t.look.draws(doc)
	edge.Draw()
}

// stub has the code, and what is needed to find the ticket without it.
func (t *ticketPrinter) stub(w printed, b box) {
	const size = 48.0
	t.pen.code(b.x+(b.w-size)/2, b.y+3, size, w.code)
	t.write(ink)
	y := t.pen.centre(box{b.x + 4, b.y + 51, b.w - 8, 5}, titleFace, 10, 7, w.number)
	t.write(muted)
	y = t.pen.centre(box{b.x + 4, y, b.w - 8, 4}, textFace, 7, 5.5, w.order)
	logoAt(t.pen.doc, t.logo, box{b.x + 8, y + 2, b.w - 16, b.y + b.h - 5 - y - 2}, 0.5)
}

// strip is the ground of a title, with the picture at its end.
func (t *ticketPrinter) strip(b box, wide float64) {
	ground, _ := t.look.ground()
	t.fill(ground, b)
	if t.picture != nil {
		picture := t.mirrored(box{b.x + b.w - wide, b.y, wide, b.h}, b)
		t.pen.doc.Cover(t.picture, picture.x, picture.y, picture.w, picture.h)
	}
}

// beside is what a picture at the end leaves of a box with a title.
func (t *ticketPrinter) beside(b box, wide float64) box {
	if t.picture == nil {
		return b
	}
	return t.mirrored(box{b.x, b.y, b.w - wide, b.h}, b)
}

// heading is the name of the event, its date and its place, in the colour that its ground needs.
func (t *ticketPrinter) heading(w printed, b box) {
	title, small := ink, muted
	if t.layout == "classic" {
		_, words := t.look.ground()
		title, small = words, words
	}
	t.write(title)
	y := t.pen.fit(box{b.x, b.y, b.w, b.h * 0.56}, titleFace, 20, 8, w.event)
	t.write(small)
	y = t.pen.fit(box{b.x, max(y, b.y+b.h*0.3) + 0.5, b.w, b.h * 0.21}, textFace, 10, 7, w.when)
	t.pen.fit(box{b.x, y, b.w, b.y + b.h - y}, textFace, 9, 5.5, w.place)
}

// middle has the seat, on a small plan, too, and the rest that a ticket says.
func (t *ticketPrinter) middle(w printed, b box) {
	wide := b.w * 0.22
	left := b.w
	if t.planIn(t.mirrored(box{b.x + b.w - wide, b.y, wide, 17}, b), w.idx) {
		left -= wide + 4
	}
	t.seat(w, t.mirrored(box{b.x, b.y, left, 17}, b))
	t.rule(b.x, b.y+18.5, b.x+b.w, b.y+18.5, false)
	column := b.w / float64(len(w.facts))
	for i, f := range w.facts {
		t.fact(f, t.mirrored(box{b.x + float64(i)*column, b.y + 20, column - 3, 11.5}, b))
	}
	t.write(muted)
	y := t.pen.fit(box{b.x, b.y + 32, b.w, 6}, textFace, 7.5, 5.5, w.notes)
	t.write(ink)
	t.pen.fit(box{b.x, max(y, b.y+38), b.w, 5}, textFace, 7.5, 5, w.sponsor)
}

func (t *ticketPrinter) fact(f labelled, b box) {
	t.write(muted)
	y := t.pen.fit(box{b.x, b.y, b.w, 4}, textFace, 7.5, 5, f.label)
	t.write(ink)
	t.pen.fit(box{b.x, y, b.w, b.y + b.h - y}, titleFace, 9.5, 5, f.words)
}

// seat writes section, row and seat in large letters, each under its name, or as a sentence.
func (t *ticketPrinter) seat(w printed, b box) {
	if w.where == nil {
		t.write(ink)
		t.pen.fit(b, titleFace, 18, 5.5, w.seat)
		return
	}
	const large = 22.0
	end := b.x + b.w
	for i := len(w.where) - 1; i >= 0; i-- {
		c := w.where[i]
		wide := max(t.pen.span(titleFace, large, c.words), t.pen.span(textFace, 7.5, c.label)) + 0.5
		if i == 0 {
			wide = end - b.x
		}
		at := t.mirrored(box{end - wide, b.y, wide, 4}, b)
		t.write(muted)
		t.pen.fit(at, textFace, 7.5, 5, c.label)
		t.write(ink)
		t.pen.fit(box{at.x, b.y + 4, at.w, b.h - 4}, titleFace, large, 5.5, c.words)
		end -= wide + 5
	}
}

// planIn draws the sections, the stage and where the seat is. It reports whether there is something to draw.
func (t *ticketPrinter) planIn(b box, idx int) bool {
	p := t.plan
	if !(Sale{Plan: p}).onPlan(idx) {
		return false
	}
	sale, seat := Sale{Plan: p}, p.Seats[idx]
	floor := p.Sections[seat.Section].Floor
	low, high := sale.extentOf(floor)
	wide, tall := high.X-low.X, high.Y-low.Y
	doc, scale := t.pen.doc, min(b.w/wide, b.h/tall)
	drawing := t.mirrored(box{b.x + b.w - wide*scale, b.y, wide * scale, tall * scale}, b)
	x, y := drawing.x-low.X*scale, drawing.y-low.Y*scale
	doc.Colour, doc.Pen = pdf.Colour(faint), pdf.Pen{Colour: pdf.Colour(white), Width: 0.15}
	for _, points := range sale.figures(floor) {
		var list []pdf.Point
		for _, q := range simpler(points, max(wide, tall)/200) {
			list = append(list, pdf.Point{X: x + q.X*scale, Y: y + q.Y*scale})
		}
		doc.Polygon(list).FillAndDraw()
	}
	c, own := t.look.colour()
	if !own {
		c = ink
	}
	doc.Colour, doc.Pen.Width = pdf.Colour(c), 0.5
	doc.Circle(x+seat.X*scale, y+seat.Y*scale, 1.1).FillAndDraw()
	return true
}

// cards prints each ticket on a page of A6.
func (t *ticketPrinter) cards(tickets []printed) {
	const wide, high, edge = 105.0, 148.0, 7.0
	doc, page := t.pen.doc, box{0, 0, wide, high}
	for _, w := range tickets {
		doc.Page(wide, high)
		top := box{edge, 8, wide - 2*edge, 28}
		switch {
		case t.layout == "classic":
			t.strip(box{0, 0, wide, 38}, 40)
			t.heading(w, t.beside(top, 40-edge+3))
		case t.layout == "poster" && t.picture != nil:
			doc.Cover(t.picture, 0, 0, wide, 31)
			top.y, top.h = 33, 17
			t.heading(w, top)
		default:
			t.heading(w, top)
			t.rule(edge, top.y+top.h+2, wide-edge, top.y+top.h+2, false)
		}
		y := top.y + top.h + 4
		sponsor := w.sponsor
		w.sponsor = ""
		t.middle(w, box{edge, y, wide - 2*edge, 38})
		y += 38
		size := min(50, high-17-y)
		t.pen.code((wide-size)/2, y, size, w.code)
		logoAt(doc, t.logo, t.mirrored(box{edge, y + 4, (wide-size)/2 - edge - 1, 14}, page), 0.5)
		t.write(ink)
		y = t.pen.centre(box{edge, y + size - 1, wide - 2*edge, 5}, titleFace, 10, 7, w.number)
		t.write(muted)
		t.pen.centre(box{edge, y, wide - 2*edge, 4}, textFace, 7, 5.5, w.order)
		t.write(ink)
		t.pen.centre(box{edge, high - 9, wide - 2*edge, 5}, textFace, 7.5, 5, sponsor)
	}
}

// The roll of a printer at the box office, in millimetres: it prints 72 of 80.
const (
	rollWide = 80.0
	rollEdge = 4.0
)

// rolls prints each ticket on a length of a roll, in black alone.
func (t *ticketPrinter) rolls(tickets []printed) {
	t.layout, t.black = "plain", true
	for _, w := range tickets {
		t.pen.dry = true
		high := t.rollTicket(w)
		t.pen.dry = false
		t.pen.doc.Page(rollWide, high)
		t.rollTicket(w)
	}
}

// rollTicket writes one ticket from above, and returns how long it is.
func (t *ticketPrinter) rollTicket(w printed) float64 {
	doc, y := t.pen.doc, rollEdge
	t.pen.mid = true
	defer func() { t.pen.mid = false }()
	line := func(face string, large, small, high, above float64, words string) {
		if words != "" {
			y = t.pen.fit(box{rollEdge, y + above, rollWide - 2*rollEdge, high}, face, large, small, words)
		}
	}
	if t.logo != nil {
		high := min(16, 40*float64(t.logo.Height)/float64(t.logo.Width))
		if !t.pen.dry {
			logoAt(doc, t.logo, box{(rollWide - 40) / 2, y, 40, high}, 0.5)
		}
		y += high + 2
	}
	t.write(pages.Colour{})
	line(titleFace, 17, 10, 24, 0, w.event)
	line(textFace, 11, 8, 10, 1, w.when)
	line(textFace, 11, 8, 10, 0, w.place)
	line(titleFace, 20, 10, 30, 2, w.seat)
	for i, f := range w.facts {
		column := (rollWide - 2*rollEdge) / float64(len(w.facts))
		t.fact(f, t.mirrored(box{rollEdge + float64(i)*column, y + 1, column - 2, 13}, box{0, y, rollWide, 0}))
	}
	y += 13
	line(textFace, 8.5, 7, 16, 1, w.notes)
	const size = 56.0
	t.pen.code((rollWide-size)/2, y+1, size, w.code)
	y += size + 1
	line(titleFace, 11, 8, 6, 0, w.number)
	line(textFace, 8.5, 7, 8, 0, w.order)
	line(textFace, 9, 7, 10, 2, w.sponsor)
	return y + rollEdge
}
