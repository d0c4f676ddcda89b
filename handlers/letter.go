package handlers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	ofDesk "github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/alerts"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/letters"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/seats/sites"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/turns"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/seats/wallets"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
	mails "github.com/usherbox/usher/views/mail"
	"github.com/usherbox/usher/views/shop"
)

// Letters writes the mail about orders and places in wait lists, and with links.
type Letters struct {
	Inventory     *seats.Inventory
	Orders        *orders.Orders
	Credit        *credit.Ledger
	Desk          *organizers.Desk
	Rooms         *waitingroom.Rooms
	Waits         *waitlist.List
	Banks         *banktransfer.Bank
	Pages         *pages.Pages
	Sites         *sites.Sites
	Invoices      *invoices.Invoices
	GiftCards     *giftcards.GiftCards
	Automatic     *letters.Letters
	Alerts        *alerts.Alerts
	Books         *books.Books
	Bookings      *bookings.Bookings
	Subscriptions *subscriptions.All
	Wallets       *wallets.Wallets // nil: no passes
	Logs          *publiclog.Logs  // nil: no codes of the public log
	Log           *slog.Logger
	URL           string           // how browsers reach us
	Now           func() time.Time // the database's; nil: this machine's
}

func (l Letters) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}

// home is how browsers reach the events of a team: at its own domain, if it has one.
func (l Letters) home(ctx context.Context, team int64) (string, error) {
	return l.Sites.Home(ctx, team, l.URL)
}

// head returns what all mails of a team have in common, or of the operator for team 0.
func (l Letters) head(ctx context.Context, team int64) (h mails.Letterhead, err error) {
	list, err := l.Pages.Published(ctx, team)
	if err != nil {
		return h, err
	}
	home, err := l.home(ctx, team)
	if err != nil {
		return h, err
	}
	h.Legal = views.LegalLinks(list, home)
	if h.Branding, err = l.Pages.BrandingOf(ctx, team); err != nil {
		return h, err
	}
	h.Logo, err = l.Pages.LogoFile(ctx, h.Branding)
	return h, err
}

// own puts words of the team around a mail about an order; about an offer without one.
func (l Letters) own(ctx context.Context, h *mails.Letterhead, kind string, sale shop.Sale, order orders.Order) error {
	own, team, err := l.Automatic.Text(ctx, sale.Event.Team, kind, text.Tag(ctx))
	if err != nil || own.Kind == "" {
		return err
	}
	h.Own = own.Fill(map[string]string{
		"name": order.Name, "event": sale.Event.Name, "date": views.WhenIn(ctx, sale.Event), "venue": views.PlaceIn(ctx, sale.Event), "team": team, "order": order.Code,
	})
	return nil
}

// branded puts the name and the logo of a team into a letter.
func branded(letter mail.Letter, h mails.Letterhead) mail.Letter {
	letter.From = h.Branding.SenderName()
	if h.Logo != nil {
		letter.Files = append(letter.Files, mail.File{Name: "logo.jpg", Type: "image/jpeg", Content: h.Logo, Inline: mails.LogoID})
	}
	return letter
}

// Write makes the letter of a row of the outbox, with the order as it is now, in the language of its reader.
func (l Letters) Write(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	ctx = text.For(ctx, m.Language)
	if kind, about := strings.CutPrefix(m.Kind, waitlist.MailPrefix); about {
		return l.waiting(ctx, m, kind)
	}
	switch m.Kind {
	case credit.MailLink:
		return l.link(ctx, m)
	case credit.MailPasskeyAdded, credit.MailPasskeyRemoved:
		return l.deskLetter(ctx, m, 0, mails.Passkey(ctx, m.Kind == credit.MailPasskeyAdded, m.About, l.URL+shop.AccountPath))
	case organizers.MailInvitation:
		return l.invitation(ctx, m)
	case waitingroom.MailPlace:
		return l.place(ctx, m)
	case turns.Mail:
		return l.turn(ctx, m)
	case pricing.MailCode:
		return l.code(ctx, m)
	case organizers.MailPassword:
		return l.password(ctx, m)
	case alerts.Mail:
		return l.alerts(ctx, m)
	case books.Mail:
		return l.books(ctx, m)
	case bookings.MailOption, bookings.MailEnds:
		return l.option(ctx, m)
	case organizers.MailSecurity:
		return l.deskLetter(ctx, m, 0, mails.Security(ctx, organizers.InNotice(ctx, m.About), l.URL+desk.AccountPath))
	case giftcards.MailCard, giftcards.MailReceipt:
		return l.giftCard(ctx, m)
	case orders.MailConfirm:
		return l.confirm(ctx, m)
	case orders.MailLost:
		return l.lost(ctx, m)
	case orders.MailMessage:
		return l.message(ctx, m)
	case orders.MailMessageTest:
		return l.messageTest(ctx, m)
	case letters.MailUpcoming:
		return l.upcoming(ctx, m)
	case letters.MailThanks:
		return l.thanks(ctx, m)
	case orders.MailSubscribed:
		return l.subscribed(ctx, m)
	case subscriptions.MailRenewal:
		return l.renewal(ctx, m)
	case orders.MailEmailAllow, orders.MailEmailConfirm:
		return l.emailChange(ctx, m)
	case orders.MailTicketOffer, orders.MailTicketVoid:
		return l.sentTicket(ctx, m)
	case orders.MailResaleOffer:
		return l.resaleOffer(ctx, m)
	}
	order, err := l.orderOf(ctx, m)
	if err != nil {
		return mail.Letter{}, err
	}
	s, err := l.Inventory.Sale(ctx, order.Event)
	if err != nil {
		return mail.Letter{}, err
	}
	if (m.Kind == orders.MailJoin || m.Kind == orders.MailTicket) && order.State == orders.Cancelled {
		return mail.Letter{}, &mail.Refused{Reason: "the order or the ticket was cancelled before the email went out"}
	}
	home, err := l.home(ctx, s.Event.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	address := home + shop.OrderAddress(order)
	page := mails.LetterPage{Sale: shop.Sale{Event: s.Event, Plan: s.Plan, Now: l.now()}, Order: order, Kind: m.Kind, Address: address, Passes: web.Passes(l.Wallets)}
	if page.Letterhead, err = l.head(ctx, s.Event.Team); err != nil {
		return mail.Letter{}, err
	}
	if m.Kind == orders.MailConfirmation && order.State != orders.Cancelled {
		if err := l.own(ctx, &page.Letterhead, letters.TextConfirmation, page.Sale, order); err != nil {
			return mail.Letter{}, err
		}
	}
	if page.Transfer, _, err = l.Banks.Transfer(ctx, s.Event.Team, order); err != nil {
		return mail.Letter{}, err
	}
	if page.Invoices, err = l.Invoices.Of(ctx, order.Code); err != nil {
		return mail.Letter{}, err
	}
	if at, _ := events.JoinsAt(s.Event); m.Kind == orders.MailJoin && page.Now.Before(at) { // the database said that it is time
		page.Now = at
	}
	var html strings.Builder
	if err := mails.Letter(page).Render(ctx, &html); err != nil {
		return mail.Letter{}, err
	}
	letter := toBuyer(m, order, page.Subject(ctx), page.Text(ctx), html.String(), page.Letterhead)
	look, err := web.TicketPrint(ctx, l.Pages, shop.Print{Branding: page.Branding, Logo: page.Logo}, s.Event.ID)
	if err != nil {
		return letter, err
	}
	added, err := l.files(ctx, s, order, address, look)
	letter.Files = append(letter.Files, added...)
	if code := page.Transfer.Code(); code != "" {
		letter.Files = append(letter.Files, mail.File{Name: "bank-transfer.png", Type: "image/png", Content: views.QRPicture(code)})
	}
	return letter, err
}

// sentTicket makes the mail that offers a ticket to a friend, or tells them that it was cancelled.
func (l Letters) sentTicket(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	id, err := seats.ParseID(m.Transfer)
	if err != nil {
		return mail.Letter{}, err
	}
	t, order, err := l.Orders.TransferByID(ctx, id)
	if err != nil {
		return mail.Letter{}, err
	}
	s, err := l.Inventory.Sale(ctx, order.Event)
	if err != nil {
		return mail.Letter{}, err
	}
	home, err := l.home(ctx, s.Event.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	at := slices.IndexFunc(order.Tickets, func(one orders.Ticket) bool { return one.ID == t.Ticket })
	if at < 0 || m.Kind == orders.MailTicketOffer && (!t.Open() || order.Tickets[at].Revoked) {
		return mail.Letter{}, &mail.Refused{Reason: "the ticket was taken back, sent on or cancelled before the email went out"}
	}
	sale, seat := shop.Sale{Event: s.Event, Plan: s.Plan, Now: l.now()}, shop.SeatWords(ctx, s.Plan, order.Tickets[at].Idx)
	if m.Kind == orders.MailTicketOffer {
		m.Email = t.SentTo
		return l.deskLetter(ctx, m, s.Event.Team, mails.TicketOffer(ctx, sale, t.From, seat, home+shop.TransferPath(t.Code)))
	}
	m.Email = t.Email
	return l.deskLetter(ctx, m, s.Event.Team, mails.TicketVoid(ctx, sale, seat, home+shop.ReceivedPath(t.TicketCode)))
}

// resaleOffer makes the mail that offers tickets to a friend, who may buy them.
func (l Letters) resaleOffer(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	id, err := seats.ParseID(m.Resale)
	if err != nil {
		return mail.Letter{}, err
	}
	f, err := l.Orders.ResaleOfferByID(ctx, id)
	if err != nil {
		return mail.Letter{}, err
	}
	s, err := l.Inventory.Sale(ctx, f.Event)
	if err != nil {
		return mail.Letter{}, err
	}
	home, err := l.home(ctx, s.Event.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	hold, err := s.Hold(ctx, f.Holder)
	if errors.Is(err, seats.ErrNoHold) || f.State != orders.ResaleOpen {
		return mail.Letter{}, &mail.Refused{Reason: "the tickets were taken back, bought or not bought in time before the email went out"}
	}
	if err != nil {
		return mail.Letter{}, err
	}
	m.Email = f.SentTo
	sale := shop.Sale{Event: s.Event, Plan: s.Plan, Hold: &hold, Now: l.now()}
	return l.deskLetter(ctx, m, s.Event.Team, mails.ResaleOffer(ctx, sale, f, home+shop.ResalePath(f.Code)))
}

// emailChange makes the mail that asks one of both addresses whether an order gets another email.
func (l Letters) emailChange(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	id, err := seats.ParseID(m.NewEmail)
	if err != nil {
		return mail.Letter{}, err
	}
	c, err := l.Orders.EmailChangeByID(ctx, id)
	if err != nil {
		return mail.Letter{}, err
	}
	if !c.Open() {
		return mail.Letter{}, &mail.Refused{Reason: "the change was stopped or is over before the email went out"}
	}
	s, err := l.Inventory.Sale(ctx, c.Event)
	if err != nil {
		return mail.Letter{}, err
	}
	home, err := l.home(ctx, s.Event.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	sale := shop.Sale{Event: s.Event, Plan: s.Plan, Now: l.now()}
	if m.Kind == orders.MailEmailAllow {
		m.Email = c.From
		return l.deskLetter(ctx, m, s.Event.Team, mails.EmailAllow(ctx, sale, c.To, home+shop.EmailChangePath(c.AllowCode)))
	}
	m.Email = c.To
	return l.deskLetter(ctx, m, s.Event.Team, mails.EmailConfirm(ctx, sale, home+shop.EmailChangePath(c.ConfirmCode)))
}

// orderOf returns the order that a mail is about, as its reader sees it: its buyer, or a friend whom a ticket was sent to.
func (l Letters) orderOf(ctx context.Context, m mail.Mail) (orders.Order, error) {
	if m.Transfer == "" {
		return l.Orders.Find(ctx, m.Order)
	}
	id, err := seats.ParseID(m.Transfer)
	if err != nil {
		return orders.Order{}, err
	}
	t, _, err := l.Orders.TransferByID(ctx, id)
	if err != nil {
		return orders.Order{}, err
	}
	return l.Orders.ReceivedTicket(ctx, t.TicketCode)
}

// ofEvent returns what a letter that an event sends by itself is about: an order that holds, of an event that takes place.
func (l Letters) ofEvent(ctx context.Context, m mail.Mail) (order orders.Order, sale shop.Sale, set letters.Settings, err error) {
	if order, err = l.orderOf(ctx, m); err != nil {
		return order, sale, set, err
	}
	s, err := l.Inventory.Sale(ctx, order.Event)
	if err != nil {
		return order, sale, set, err
	}
	sale = shop.Sale{Event: s.Event, Plan: s.Plan, Now: l.now()}
	if order.State == orders.Cancelled || s.Event.Status == seats.Cancelled || order.Email == "" {
		return order, sale, set, &mail.Refused{Reason: "the order or the event was cancelled before the email went out"}
	}
	if sale.About, err = l.Pages.OfEvent(ctx, s.Event.ID); err != nil {
		return order, sale, set, err
	}
	set, err = l.Automatic.Of(ctx, s.Event.ID)
	return order, sale, set, err
}

// upcoming makes the mail that reminds of an event.
func (l Letters) upcoming(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	order, sale, set, err := l.ofEvent(ctx, m)
	if err != nil {
		return mail.Letter{}, err
	}
	if !sale.Now.Before(sale.Event.StartsAt) {
		return mail.Letter{}, &mail.Refused{Reason: "the event began before the email went out"}
	}
	home, err := l.home(ctx, sale.Event.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	page := mails.UpcomingPage{Sale: sale, Order: order, Note: set.Note, Address: home + shop.OrderAddress(order)}
	if page.Letterhead, err = l.head(ctx, sale.Event.Team); err != nil {
		return mail.Letter{}, err
	}
	if err := l.own(ctx, &page.Letterhead, letters.TextUpcoming, sale, order); err != nil {
		return mail.Letter{}, err
	}
	var html strings.Builder
	if err := mails.UpcomingLetter(page).Render(ctx, &html); err != nil {
		return mail.Letter{}, err
	}
	return toBuyer(m, order, page.Subject(ctx), page.Text(ctx), html.String(), page.Letterhead), nil
}

// thanks makes the mail that thanks for coming.
func (l Letters) thanks(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	order, sale, set, err := l.ofEvent(ctx, m)
	if err != nil {
		return mail.Letter{}, err
	}
	if set.Thanks == letters.ThanksOff {
		return mail.Letter{}, &mail.Refused{Reason: "thanks were turned off before the email went out"}
	}
	who, err := l.Automatic.Subscription(ctx, order.ID)
	if err != nil {
		return mail.Letter{}, err
	}
	if who.Unsubscribed {
		return mail.Letter{}, &mail.Refused{Reason: "the buyer unsubscribed before the email went out"}
	}
	home, err := l.home(ctx, sale.Event.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	page := mails.ThanksPage{Sale: sale, Words: set.ThanksText, Unsubscribe: home + "/unsubscribe/" + order.ID.String()}
	if page.Letterhead, err = l.head(ctx, sale.Event.Team); err != nil {
		return mail.Letter{}, err
	}
	if err := l.own(ctx, &page.Letterhead, letters.TextThanks, sale, order); err != nil {
		return mail.Letter{}, err
	}
	var html strings.Builder
	if err := mails.ThanksLetter(page).Render(ctx, &html); err != nil {
		return mail.Letter{}, err
	}
	letter := toBuyer(m, order, page.Subject(ctx), page.Text(ctx), html.String(), page.Letterhead)
	letter.Unsubscribe = page.Unsubscribe
	return letter, nil
}

// renewal makes the mail with the link by which a subscriber renews.
func (l Letters) renewal(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	h, err := l.Subscriptions.RenewsOf(ctx, m.Order, m.About)
	if err != nil {
		return mail.Letter{}, err
	}
	if h.Renewal.Order != "" || !h.Now.Before(h.KeepUntil) || h.Renewal.Email == "" {
		return mail.Letter{}, &mail.Refused{Reason: "the seats were renewed, or are not kept any more"}
	}
	b, err := l.Subscriptions.Basket(ctx, h, seats.ID{})
	if errors.Is(err, seats.ErrNoHold) {
		return mail.Letter{}, &mail.Refused{Reason: "the seats were given up"}
	}
	if err != nil {
		return mail.Letter{}, err
	}
	home, err := l.home(ctx, h.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	m.Email = h.Renewal.Email
	return l.deskLetter(ctx, m, h.Team, mails.Renewal(ctx, h, b, home+shop.RenewalPath(h.Renewal.Code)))
}

// subscribed makes the one mail about all orders of a subscription, with their tickets.
func (l Letters) subscribed(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	name, list, err := l.Subscriptions.OfOrder(ctx, m.Order)
	if err != nil {
		return mail.Letter{}, err
	}
	page := mails.SubscribedPage{Name: name}
	var first orders.Order
	var added []mail.File
	for _, of := range list {
		order, err := l.Orders.Find(ctx, of.Code)
		if err != nil {
			return mail.Letter{}, err
		}
		s, err := l.Inventory.Sale(ctx, order.Event)
		if err != nil {
			return mail.Letter{}, err
		}
		home, err := l.home(ctx, s.Event.Team)
		if err != nil {
			return mail.Letter{}, err
		}
		address := home + shop.OrderPath(order.Code)
		page.Orders = append(page.Orders, mails.SubscribedOrder{Sale: shop.Sale{Event: s.Event, Plan: s.Plan}, Order: order, Address: address})
		if first.Code == "" {
			first = order
			if page.Letterhead, err = l.head(ctx, s.Event.Team); err != nil {
				return mail.Letter{}, err
			}
		}
		look, err := web.TicketPrint(ctx, l.Pages, shop.Print{Branding: page.Branding, Logo: page.Logo}, s.Event.ID)
		if err != nil {
			return mail.Letter{}, err
		}
		more, err := l.files(ctx, s, order, address, look)
		if err != nil {
			return mail.Letter{}, err
		}
		added = append(added, more...)
	}
	if first.Code == "" {
		return mail.Letter{}, &mail.Refused{Reason: "the order is of no subscription"}
	}
	var html strings.Builder
	if err := mails.SubscribedLetter(page).Render(ctx, &html); err != nil {
		return mail.Letter{}, err
	}
	letter := toBuyer(m, first, page.Subject(ctx), page.Text(ctx), html.String(), page.Letterhead)
	letter.Files = append(letter.Files, added...)
	return letter, nil
}

// toBuyer is a letter to the buyer of an order.
func toBuyer(m mail.Mail, order orders.Order, subject, plain, html string, head mails.Letterhead) mail.Letter {
	return branded(mail.Letter{
		ID: fmt.Sprintf("%d.%s", m.ID, order.ID), Name: order.Name, Email: order.Email,
		Subject: strings.Join(strings.Fields(subject), " "), Text: plain, HTML: html,
	}, head)
}

// message makes the mail with an organizer's message to a buyer.
func (l Letters) message(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	order, err := l.orderOf(ctx, m)
	if err != nil {
		return mail.Letter{}, err
	}
	if order.State == orders.Cancelled {
		return mail.Letter{}, &mail.Refused{Reason: "the order was cancelled before the message went out"}
	}
	page, html, err := l.messagePage(ctx, m, shop.OrderAddress(order))
	if err != nil {
		return mail.Letter{}, err
	}
	return toBuyer(m, order, page.Subject(ctx), page.Text(ctx), html, page.Letterhead), nil
}

// messageTest makes the mail that shows a message to its writer. Its link leads to the event.
func (l Letters) messageTest(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	page, html, err := l.messagePage(ctx, m, "")
	if err != nil {
		return mail.Letter{}, err
	}
	subject := text.T(ctx, "Test: %s", page.Subject(ctx))
	return branded(mail.Letter{ID: fmt.Sprintf("%d.%s", m.ID, m.Kind), Email: m.Email, Subject: subject, Text: page.Text(ctx), HTML: html}, page.Letterhead), nil
}

// messagePage returns a message as a mail shows it, with a link to an address of ours; empty: that of the event.
func (l Letters) messagePage(ctx context.Context, m mail.Mail, path string) (page mails.Message, html string, err error) {
	words, event, err := l.Orders.MessageOf(ctx, m.ID)
	if err != nil {
		return page, "", err
	}
	s, err := l.Inventory.Sale(ctx, event)
	if err != nil {
		return page, "", err
	}
	page = mails.Message{Sale: shop.Sale{Event: s.Event, Plan: s.Plan}, Words: words}
	home, err := l.home(ctx, s.Event.Team)
	if err != nil {
		return page, "", err
	}
	page.Address = home + cmp.Or(path, page.Path())
	if page.About, err = l.Pages.OfEvent(ctx, s.Event.ID); err != nil {
		return page, "", err
	}
	if page.Letterhead, err = l.head(ctx, s.Event.Team); err != nil {
		return page, "", err
	}
	var b strings.Builder
	err = mails.MessageLetter(page).Render(ctx, &b)
	return page, b.String(), err
}

// files are what a mail program can keep of an order.
func (l Letters) files(ctx context.Context, s *seats.Sale, order orders.Order, address string, look shop.Print) ([]mail.File, error) {
	page := shop.OrderPage{Sale: shop.Sale{Event: s.Event, Plan: s.Plan}, Order: order}
	if order.State == orders.Cancelled || len(page.Live()) == 0 {
		return nil, nil
	}
	calendar := mail.File{Name: s.Event.Slug + ".ics", Type: "text/calendar", Content: []byte(web.CalendarOf(ctx, s, order, address))}
	if s.Event.Online.On || order.Rotates {
		return []mail.File{calendar}, nil
	}
	page.Proofs = l.proofs(ctx, s.Event.ID, order, page.Live())
	paper, _ := look.Branding.PaperFor("")
	pdf, err := page.Paper(ctx, look, paper)
	return []mail.File{
		{Name: s.Event.Slug + ".pdf", Type: "application/pdf", Content: pdf},
		calendar,
	}, err
}

// logFollows is how long the mail of an order waits for the public log, which has a sale about a second after it.
const logFollows = 3 * time.Second

// proofs are those of tickets in the public log. Tickets are valid without, so only an order that was just made waits for them.
func (l Letters) proofs(ctx context.Context, event int64, order orders.Order, tickets []orders.Ticket) map[int]publiclog.Proof {
	if l.Logs == nil || !l.Logs.Has(ctx, event) {
		return nil
	}
	var idxs []int
	for _, t := range tickets {
		idxs = append(idxs, t.Idx)
	}
	for {
		found, err := l.Logs.Proofs(ctx, event, order.ID, idxs)
		if err != nil {
			l.Log.Warn("the tickets of a mail have no proof of the public log", "error", err)
		}
		if err != nil || len(found) == len(idxs) || l.now().Sub(order.CreatedAt) > logFollows || seats.Sleep(ctx, 200*time.Millisecond) != nil {
			return found
		}
	}
}

// lost makes the mail to a buyer who paid and got no seats.
func (l Letters) lost(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	p, err := l.Orders.Payments.Find(ctx, m.Order)
	if err != nil {
		return mail.Letter{}, err
	}
	switch {
	case p.Done():
		return mail.Letter{}, &mail.Refused{Reason: "the seats were sold to them after all"}
	case !p.Over():
		return mail.Letter{}, errors.New("their seats are tried again in this moment")
	}
	s, err := l.Inventory.Sale(ctx, p.Event)
	if err != nil {
		return mail.Letter{}, err
	}
	page := mails.LostPage{Sale: shop.Sale{Event: s.Event, Plan: s.Plan}, Payment: p}
	home, err := l.home(ctx, s.Event.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	page.Address = home + page.Path()
	if p.Exchange.Code != "" {
		page.Address = home + shop.OrderPath(p.Exchange.Code)
	}
	if page.Letterhead, err = l.head(ctx, s.Event.Team); err != nil {
		return mail.Letter{}, err
	}
	var html strings.Builder
	if err := mails.LostLetter(page).Render(ctx, &html); err != nil {
		return mail.Letter{}, err
	}
	return branded(mail.Letter{
		ID: fmt.Sprintf("%d.%s", m.ID, p.Order), Name: p.Name, Email: p.Email,
		Subject: strings.Join(strings.Fields(page.Subject(ctx)), " "), Text: page.Text(ctx), HTML: html.String(),
	}, page.Letterhead), nil
}

// confirm makes the mail that asks to confirm an order, and its link: only the mail has it.
func (l Letters) confirm(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	p, err := l.Orders.Payments.Find(ctx, m.Order)
	if err != nil {
		return mail.Letter{}, err
	}
	if p.Done() || p.Over() {
		return mail.Letter{}, &mail.Refused{Reason: "the order is not to be confirmed any more"}
	}
	s, err := l.Inventory.Sale(ctx, p.Event)
	if err != nil {
		return mail.Letter{}, err
	}
	hold, err := s.Hold(ctx, p.Holder)
	if err != nil && !errors.Is(err, seats.ErrNoHold) {
		return mail.Letter{}, err
	}
	token, err := l.Orders.Payments.ConfirmToken(ctx, p)
	if err != nil {
		return mail.Letter{}, err
	}
	m.Email = p.Email
	home, err := l.home(ctx, s.Event.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	return l.deskLetter(ctx, m, s.Event.Team, mails.Confirm(ctx, shop.PaymentPage{Sale: shop.Sale{Event: s.Event, Plan: s.Plan, Now: l.now()}, Payment: p, Ends: hold.ExpiresAt}, home+shop.ConfirmPath(token)))
}

// link makes the mail with a link, and the link itself: only the mail has it.
func (l Letters) link(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	if m.About == credit.AboutData {
		return l.dataLink(ctx, m)
	}
	token, err := l.Credit.Link(ctx, m.Email)
	if errors.Is(err, credit.ErrNoLink) {
		return mail.Letter{}, &mail.Refused{Reason: "the link is not wanted any more"}
	}
	if err != nil {
		return mail.Letter{}, err
	}
	return l.deskLetter(ctx, m, 0, mails.Account(ctx, m.Email, l.URL+shop.AccountPath+"/links/"+token))
}

// dataLink makes the mail with the link to a person's data.
func (l Letters) dataLink(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	token, err := l.Credit.DataLink(ctx, m.Email)
	if errors.Is(err, credit.ErrNoLink) {
		return mail.Letter{}, &mail.Refused{Reason: "the link is not wanted any more"}
	}
	if err != nil {
		return mail.Letter{}, err
	}
	return l.deskLetter(ctx, m, 0, mails.PersonalData(ctx, m.Email, l.URL+shop.PersonalPath+"/"+token))
}

// giftCard makes the mail that brings a gift card, or its receipt.
func (l Letters) giftCard(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	id, err := seats.ParseID(m.GiftCard)
	if err != nil {
		return mail.Letter{}, err
	}
	c, err := l.GiftCards.ByID(ctx, id)
	if err != nil {
		return mail.Letter{}, err
	}
	if c.State != giftcards.Issued {
		return mail.Letter{}, &mail.Refused{Reason: "the gift card was paid back"}
	}
	home, err := l.home(ctx, c.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	if m.Kind == giftcards.MailReceipt {
		m.Email = c.Buyer
		return l.deskLetter(ctx, m, c.Team, mails.GiftReceipt(ctx, c, home+shop.GiftCardPath(c.Code)))
	}
	m.Email = c.Recipient
	letter, err := l.deskLetter(ctx, m, c.Team, mails.GiftCard(ctx, c, home+shop.AccountPath))
	if err != nil {
		return letter, err
	}
	head, err := l.head(ctx, c.Team)
	if err != nil {
		return letter, err
	}
	pdf := shop.GiftCardPaper(ctx, c, home, shop.Print{Branding: head.Branding, Logo: head.Logo})
	letter.Files = append(letter.Files, mail.File{Name: "gift-card.pdf", Type: "application/pdf", Content: pdf})
	return letter, nil
}

// invitation makes the mail that invites a person to a team, and its link: only the mail has it.
func (l Letters) invitation(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	token, invited, err := l.Desk.InvitationMail(ctx, m.Invitation)
	if errors.Is(err, organizers.ErrNoLink) {
		return mail.Letter{}, &mail.Refused{Reason: "the invitation is not open any more"}
	}
	if err != nil {
		return mail.Letter{}, err
	}
	return l.deskLetter(ctx, m, 0, mails.Invitation(ctx, invited, l.URL+desk.Path+"/invitations/"+token))
}

// password makes the mail by which an organizer chooses another password, and its link: only the mail has it.
func (l Letters) password(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	token, name, err := l.Desk.PasswordLink(ctx, m.Email)
	if errors.Is(err, organizers.ErrNoLink) {
		return mail.Letter{}, &mail.Refused{Reason: "no organizer has this address"}
	}
	if err != nil {
		return mail.Letter{}, err
	}
	return l.deskLetter(ctx, m, 0, mails.Password(ctx, name, l.URL+desk.PasswordPath+"/"+token))
}

// place makes the mail that invites a person to a waiting room. Its link joins as the mail's address.
func (l Letters) place(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	room, err := l.Rooms.Room(ctx, m.Room)
	if err != nil {
		return mail.Letter{}, err
	}
	state := room.State()
	if state.Phase == waitingroom.PhaseEnded {
		return mail.Letter{}, &mail.Refused{Reason: "the waiting room has ended"}
	}
	invitation, err := room.Invitation(ctx, m.Email)
	if err != nil {
		return mail.Letter{}, err
	}
	return l.deskLetter(ctx, m, 0, mails.Place(ctx, state.Name, l.URL+shop.RoomPath(room.Slug)+"/invitations/"+invitation))
}

// code makes the mail that brings a person their code.
func (l Letters) code(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	about, err := pricing.ReadAbout(m.About)
	if err != nil {
		return mail.Letter{}, err
	}
	s, err := l.Inventory.Sale(ctx, about.Event)
	if err != nil {
		return mail.Letter{}, err
	}
	code, err := l.Orders.FindCode(ctx, s.Event.ID, about.Code)
	if err != nil {
		return mail.Letter{}, err
	}
	home, err := l.home(ctx, s.Event.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	sale := shop.Sale{Event: s.Event}
	if about.Series != "" {
		return l.seriesCode(ctx, m, sale, code, home+shop.SeriesPath(about.Series)+"?code="+about.Code)
	}
	switch {
	case code.State == pricing.CodeOver || code.State == pricing.CodeUnknown:
		return mail.Letter{}, &mail.Refused{Reason: "the code was stopped, or its time is over"}
	case s.Event.Status == seats.Cancelled || s.Event.Status == seats.Closed:
		return mail.Letter{}, &mail.Refused{Reason: "the event is over"}
	}
	code.Presale = code.Presale && s.Event.Status == seats.Scheduled // else there is nothing before the sale any more
	return l.deskLetter(ctx, m, s.Event.Team, mails.EventCode(ctx, sale, code, home+sale.Path()+"?code="+code.Code+"#codes"))
}

// seriesCode makes the mail with a code for performances of a series: those in which it opens something when the mail goes out.
func (l Letters) seriesCode(ctx context.Context, m mail.Mail, sale shop.Sale, code pricing.Code, address string) (mail.Letter, error) {
	dates, err := l.Orders.CodeDates(ctx, sale.Event.ID, code.Code)
	if err != nil {
		return mail.Letter{}, err
	}
	if dates.Count == 0 {
		return mail.Letter{}, &mail.Refused{Reason: "the code was stopped, or its time is over"}
	}
	code.Presale = code.Presale && dates.Early
	return l.deskLetter(ctx, m, sale.Event.Team, mails.SeriesCode(ctx, sale, code, dates, address))
}

// option makes the mail about an option of a group that lasts.
func (l Letters) option(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	event, k, err := l.Bookings.About(ctx, m.About)
	switch {
	case err != nil:
		return mail.Letter{}, err
	case k.State != bookings.Option:
		return mail.Letter{}, &mail.Refused{Reason: "the option was confirmed or ended before the email went out"}
	}
	s, err := l.Inventory.Sale(ctx, event)
	if err != nil {
		return mail.Letter{}, err
	}
	if s.Event.Status == seats.Cancelled {
		return mail.Letter{}, &mail.Refused{Reason: "the event was cancelled before the email went out"}
	}
	_, cost, err := k.Quote(s)
	var unpriced *seats.ValidationError
	var short *seats.Conflict
	if errors.As(err, &unpriced) || errors.As(err, &short) {
		return mail.Letter{}, &mail.Refused{Reason: "the option has no price any more: change its prices at the desk, and tell its contact"}
	}
	if err != nil {
		return mail.Letter{}, err
	}
	home, err := l.home(ctx, s.Event.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	sale := shop.Sale{Event: s.Event, Plan: s.Plan}
	deposit := ""
	if k.Deposit != nil {
		deposit = home + shop.DepositPath(k.Deposit.Code)
	}
	return l.deskLetter(ctx, m, s.Event.Team, mails.Option(ctx, sale, k, cost.Total, m.Kind == bookings.MailEnds, home+sale.Path(), deposit))
}

// turn makes the mail that tells a visitor of a waiting room that their number is called.
func (l Letters) turn(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	about, err := turns.ReadAbout(m.About)
	if err != nil {
		return mail.Letter{}, err
	}
	if !about.Until.After(l.now()) {
		return mail.Letter{}, &mail.Refused{Reason: "the number has expired"}
	}
	room, err := l.Rooms.Room(ctx, m.Room)
	if err != nil {
		return mail.Letter{}, err
	}
	home, err := l.home(ctx, about.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	event, err := l.Inventory.EventOfRoom(ctx, room.ID)
	if errors.Is(err, seats.ErrNoEvent) {
		return mail.Letter{}, &mail.Refused{Reason: "the waiting room has no event any more"}
	}
	if err != nil {
		return mail.Letter{}, err
	}
	return l.deskLetter(ctx, m, about.Team, mails.Turn(ctx, room.State().Name, about.Number, views.ClockIn(ctx, event, about.Until), home+shop.RoomPath(room.Slug)))
}

// alerts makes the mail that tells a member what needs a person.
func (l Letters) alerts(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	team, list, try, err := l.Alerts.Mailed(ctx, m.About)
	if err != nil {
		return mail.Letter{}, err
	}
	if len(list) == 0 && !try {
		return mail.Letter{}, &mail.Refused{Reason: "what it is about was over before the email went out"}
	}
	home, err := l.home(ctx, team)
	if err != nil {
		return mail.Letter{}, err
	}
	var lines []string
	address := home + desk.AlertsPath
	for _, a := range list {
		want := desk.WantOf(ctx, a.Need)
		if lines = append(lines, strings.TrimSuffix(want.Title+" · "+want.Text, " · ")); len(list) == 1 {
			address = home + want.Path
		}
	}
	return l.deskLetter(ctx, m, team, mails.Alerts(ctx, lines, address))
}

// books makes the mail with what a team earned in some days.
func (l Letters) books(ctx context.Context, m mail.Mail) (mail.Letter, error) {
	reader, f, names, err := l.Books.About(ctx, m.Email, m.About)
	if errors.Is(err, books.ErrNotTheirs) {
		return mail.Letter{}, &mail.Refused{Reason: err.Error()}
	}
	if err != nil {
		return mail.Letter{}, err
	}
	reports, err := l.Books.Report(ctx, reader, f, books.ByPerformance)
	if err != nil {
		return mail.Letter{}, err
	}
	files, why, err := ofDesk.BooksFiles(ctx, l.Books, reader, f, names, l.now())
	if err != nil {
		return mail.Letter{}, err
	}
	home, err := l.home(ctx, reader.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	var lines []string
	for _, r := range reports {
		lines = append(lines, desk.BooksLine(ctx, r))
	}
	if why != "" {
		lines = append(lines, why)
	}
	letter, err := l.deskLetter(ctx, m, reader.Team, mails.Books(ctx, desk.BooksDays(ctx, f), lines, home+desk.BooksQuery(desk.BooksPath, f, books.ByPerformance)))
	for _, f := range files {
		letter.Files = append(letter.Files, mail.File{Name: f.Name, Type: "text/csv", Content: f.Content})
	}
	return letter, err
}

func (l Letters) deskLetter(ctx context.Context, m mail.Mail, team int64, page mails.Action) (mail.Letter, error) {
	var err error
	if page.Letterhead, err = l.head(ctx, team); err != nil {
		return mail.Letter{}, err
	}
	var html strings.Builder
	if err := mails.ActionLetter(page).Render(ctx, &html); err != nil {
		return mail.Letter{}, err
	}
	return branded(mail.Letter{
		ID: fmt.Sprintf("%d.%s", m.ID, m.Kind), Email: m.Email,
		Subject: strings.Join(strings.Fields(page.Subject), " "), Text: page.Text(ctx), HTML: html.String(),
	}, page.Letterhead), nil
}
