package handlers

import (
	"net/http"
	"strings"

	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/static"
)

// route is one address, what answers it, and the rule that the middleware holds for it. A cross-origin request that is to
// change something is refused on every route; no rule exempts from that.
type route struct {
	pattern string
	handler web.Handler
	rule    web.Rule
}

// The rules. pageRule is for what attendees see, secretRule for the desk, for capability links and for pages that the back button must not show.
// shopRule and stepRule are the same for pages that a team's own sites may show in a frame: from the event to the order. openRule
// and those for counts and feeds are for what scripts of every site may read, too: it is the same for everybody. The rules for buying
// are for what scripts of a team's own sites may do by a site key.
var (
	pageRule       = web.Rule{Cache: web.GoBack}
	secretRule     = web.Rule{Cache: "no-store"}
	shopRule       = web.Rule{Cache: web.GoBack, Frame: true}
	listRule       = web.Rule{Cache: web.GoBack, Shared: true}
	openRule       = web.Rule{Cache: web.GoBack, Frame: true, Shared: true, Keyed: true}
	stepRule       = web.Rule{Cache: "no-store", Frame: true}
	buyRule        = web.Rule{Cache: web.GoBack, Frame: true, Keyed: true}
	buyStepRule    = web.Rule{Cache: "no-store", Frame: true, Keyed: true}
	claimsRule     = web.Rule{Cache: web.GoBack, Plain: web.PlainJSON, Frame: true, Keyed: true, Crowd: true}
	holdsRule      = web.Rule{Cache: web.GoBack, Plain: web.PlainJSON, Frame: true}
	plansRule      = web.Rule{Cache: "no-store", Body: plan.MaxBytes}
	statementsRule = web.Rule{Cache: "no-store", Body: banktransfer.MaxBytes + 64<<10}
	textsRule      = web.Rule{Cache: "no-store", Body: pages.MaxBytes}
	uploadRule     = web.Rule{Cache: "no-store", Body: pages.MostPicture + 64<<10}
	pictureRule    = web.Rule{Cache: "public, max-age=31536000, immutable", Plain: web.PlainAll}
	streamRule     = web.Rule{Cache: "no-store", Plain: web.PlainAll}
	countsRule     = web.Rule{Cache: "public, max-age=1", Shared: true, Keyed: true}
	minuteRule     = web.Rule{Cache: "public, max-age=60"}
	feedRule       = web.Rule{Cache: "public, max-age=60", Shared: true}
	embedRule      = web.Rule{Cache: "public, max-age=3600", Shared: true}
	statusRule     = web.Rule{Cache: shop.StatusAge, Plain: web.PlainAll}
	keptRule       = web.Rule{Cache: "public, max-age=31536000, immutable"}
	tileRule       = web.Rule{Cache: "public, max-age=31536000, immutable", Shared: true}
	rootRule       = web.Rule{Cache: "public, max-age=1", Shared: true}
	drawingRule    = web.Rule{Cache: "public, max-age=31536000, immutable", Shared: true, Keyed: true}
)

// table is every address of the site, to be read from top to bottom.
func (h *Handlers) table() []route {
	return []route{
		{"GET /{$}", h.shop.Home, pageRule},
		{"GET /events", h.shop.Events, listRule},
		{"GET /arena", h.shop.Arena, pageRule},
		{"GET /events.ics", h.shop.EventsCalendar, feedRule},
		{"GET /events.atom", h.shop.EventsFeed, feedRule},
		{"GET /sitemap.xml", h.shop.Sitemap, minuteRule},
		{"GET /robots.txt", h.shop.Robots, minuteRule},
		{"GET /embed.js", h.shop.EmbedScript, embedRule},
		{"GET /events/{slug}", h.With(h.shop.Event), openRule},
		{"GET /events/{slug}/embed", h.With(h.shop.Embed), stepRule},
		{"GET /events/{slug}/badge", h.With(h.shop.Badge), countsRule},
		{"GET /events/{slug}/map", h.With(h.shop.Map), shopRule},
		{"GET /events/{slug}/sections/{section}", h.With(h.shop.Section), shopRule},
		{"GET /events/{slug}/seats", h.With(h.shop.Seats), countsRule},
		{"GET /events/{slug}/proposals", h.With(h.shop.Proposals), buyRule},
		{"GET /events/{slug}/views/{plan}/{file}", h.With(h.shop.SeatView), pageRule},
		{"GET /events/{slug}/map.bin", h.With(h.shop.MapBin), countsRule},
		{"GET /events/{slug}/geometry/{file}", h.With(h.shop.Geometry), drawingRule},
		{"GET /events/{slug}/live", h.With(h.shop.Live), streamRule},
		{"GET /events/{slug}/card/{file}", h.With(h.shop.ShareCard), keptRule},
		{"GET /events/{slug}/on-sale.ics", h.With(h.shop.OnSaleCalendar), pageRule},

		{"GET /events/{slug}/fairness", h.With(h.shop.SaleFairness), pageRule},
		{"GET /events/{slug}/fairness.csv", h.With(h.shop.SaleFairnessCSV), minuteRule},
		{"GET /events/{slug}/log", h.With(h.shop.PublicLog), listRule},
		{"GET /events/{slug}/log/checkpoint", h.With(h.shop.PublicCheckpoint), rootRule},
		{"GET /events/{slug}/log/cosigned", h.With(h.shop.PublicCosigned), rootRule},
		{"GET /events/{slug}/log/key", h.With(h.shop.PublicLogKey), feedRule},
		{"GET /events/{slug}/log/tile/{tile...}", h.With(h.shop.PublicTile), tileRule},

		{"GET /series/{slug}", h.WithSeries(h.shop.Series), openRule},
		{"GET /series/{slug}/badge", h.WithSeries(h.shop.SeriesBadge), countsRule},
		{"GET /series/{slug}/embed", h.WithSeries(h.shop.EmbedSeries), stepRule},
		{"GET /series/{slug}/calendar.ics", h.WithSeries(h.shop.SeriesCalendar), feedRule},
		{"GET /series/{slug}/card/{file}", h.WithSeries(h.shop.SeriesCard), keptRule},

		{"GET /subscriptions/{slug}", h.Visit(h.shop.Subscription), pageRule},
		{"POST /subscriptions/{slug}/holds", h.Acting(h.shop.HoldSubscription), holdsRule},
		{"POST /subscriptions/{slug}/hold/extension", h.Acting(h.shop.ExtendSubscription), pageRule},
		{"GET /subscriptions/{slug}/checkout", h.Visit(h.shop.SubscriptionCheckout), pageRule},
		{"POST /subscriptions/{slug}/orders", h.Acting(h.shop.OrderSubscription), pageRule},
		{"GET /renewals/{code}", h.Visit(h.shop.Subscription), secretRule},
		{"POST /renewals/{code}/holds", h.Visit(h.shop.HoldSubscription), secretRule},
		{"GET /renewals/{code}/checkout", h.Visit(h.shop.SubscriptionCheckout), secretRule},
		{"POST /renewals/{code}/orders", h.Visit(h.shop.OrderSubscription), secretRule},

		{"POST /events/{slug}/claims", h.Act(h.shop.Claim), claimsRule},
		{"DELETE /events/{slug}/claims/{idx}", h.Act(h.shop.Release), buyRule},
		{"DELETE /events/{slug}/claims", h.Act(h.shop.ReleaseAll), claimsRule},
		{"POST /events/{slug}/releases", h.Act(h.shop.ReleaseForm), stepRule},
		{"GET /events/{slug}/hold", h.By(h.shop.Hold), buyRule},
		{"POST /events/{slug}/codes", h.By(h.shop.EnterCode), buyRule},
		{"POST /events/{slug}/hold/extension", h.Act(h.shop.Extend), buyStepRule},
		{"POST /events/{slug}/hold/types", h.Act(h.shop.SetTypes), buyStepRule},

		{"GET /events/{slug}/challenge", h.By(h.shop.Challenge), buyStepRule},
		{"POST /events/{slug}/challenge", h.By(h.shop.Solve), buyStepRule},

		{"GET /events/{slug}/waitlist", h.By(h.shop.WaitList), shopRule},
		{"POST /events/{slug}/waitlist", h.Once(h.By(h.shop.JoinWaitList)), shopRule},
		{"GET /waitlist/{code}", h.shop.Waiter(h.shop.WaitPlace), pageRule},
		{"POST /waitlist/{code}", h.shop.WaiterOnce(h.shop.ChangePlace), pageRule},
		{"POST /waitlist/{code}/confirm", h.shop.WaiterOnce(h.shop.ConfirmPlace), pageRule},
		{"POST /waitlist/{code}/card", h.shop.Waiter(h.shop.SaveCard), pageRule},
		{"POST /waitlist/{code}/take", h.Acting(h.shop.OnEntry(h.shop.TakeOffer)), pageRule},
		{"POST /waitlist/{code}/decline", h.shop.WaiterOnce(h.shop.DeclineOffer), pageRule},
		{"POST /waitlist/{code}/notifications", h.shop.Waiter(h.shop.TellOffers), pageRule},
		{"POST /waitlist/{code}/leave", h.shop.WaiterOnce(h.shop.LeavePlace), pageRule},

		{"GET /events/{slug}/checkout", h.By(h.shop.Checkout), shopRule},
		{"POST /events/{slug}/orders", h.Act(h.shop.Place), buyRule},
		{"GET /events/{slug}/exchange/{code}", h.By(h.shop.ExchangeSeats), pageRule},
		{"POST /events/{slug}/exchange/{code}", h.Act(h.shop.Exchange), pageRule},
		{"GET /orders/{code}", h.shop.Order, buyRule},
		{"GET /orders/{code}/exchange", h.shop.ExchangeDates, pageRule},
		{"GET /orders/{code}/types", h.shop.Types, pageRule},
		{"POST /orders/{code}/types", h.shop.ChangeTypes, pageRule},
		{"GET /orders/{code}/calendar.ics", h.shop.Calendar, pageRule},
		{"GET /orders/{code}/tickets.pdf", h.shop.Paper, pageRule},
		{"GET /orders/{code}/receipt.pdf", h.shop.Receipt, pageRule},
		{"GET /orders/{code}/apple-wallet/{ticket}", h.shop.ApplePass, secretRule},
		{"GET /orders/{code}/google-wallet/{ticket}", h.shop.GooglePass, secretRule},
		{"GET /orders/{code}/invoices", h.shop.Invoices, pageRule},
		{"GET /orders/{code}/invoices/{file}", h.shop.Invoice, pageRule},
		{"GET /door/worker.js", h.desk.DoorWorker, pageRule},
		{"GET /door/{secret}", h.desk.Door, secretRule},
		{"GET /door/{secret}/tickets", h.desk.Expected, secretRule},
		{"POST /door/{secret}/scans", h.desk.Scan, secretRule},
		{"POST /orders/{code}/mails", h.shop.Resend, shopRule},
		{"POST /orders/{code}/cancellations", h.shop.Cancel, shopRule},
		{"POST /orders/{code}/attendances", h.shop.Attend, secretRule},
		{"GET /orders/{code}/attendances/{ticket}", h.shop.Attendance, secretRule},
		{"POST /orders/{code}/details", h.shop.ChangeDetails, shopRule},
		{"POST /orders/{code}/email-changes", h.shop.ChangeEmail, shopRule},
		{"POST /orders/{code}/email-changes/stop", h.shop.StopEmailChange, shopRule},
		{"POST /orders/{code}/transfers", h.shop.Offer, shopRule},
		{"POST /orders/{code}/withdrawals", h.shop.Withdraw, shopRule},
		{"POST /orders/{code}/resales", h.shop.OfferBack, shopRule},
		{"POST /orders/{code}/resales/withdrawals", h.shop.TakeBack, shopRule},
		{"GET /deposits/{code}", h.shop.Deposit, pageRule},
		{"POST /deposits/{code}/payments", h.Once(h.shop.PayDeposit), pageRule},
		{"GET /deposits/{code}/invoices/{file}", h.shop.DepositInvoice, secretRule},
		{"GET /resales/{code}", h.shop.ResaleOffer, pageRule},
		{"POST /resales/{code}", h.Acting(h.shop.TakeResaleOffer), pageRule},

		{"GET /email-changes/{code}", h.shop.EmailChange, secretRule},
		{"POST /email-changes/{code}", h.shop.AnswerEmailChange, secretRule},
		{"GET /transfers/{code}", h.shop.Transfer, pageRule},
		{"POST /transfers/{code}", h.shop.Accept, pageRule},
		{"GET /tickets/{code}", h.shop.Order, pageRule},
		{"GET /tickets/{code}/calendar.ics", h.shop.Calendar, pageRule},
		{"GET /tickets/{code}/tickets.pdf", h.shop.Paper, pageRule},
		{"GET /tickets/{code}/apple-wallet/{ticket}", h.shop.ApplePass, secretRule},
		{"GET /tickets/{code}/google-wallet/{ticket}", h.shop.GooglePass, secretRule},
		{"POST /tickets/{code}/attendances", h.shop.Attend, secretRule},
		{"GET /tickets/{code}/attendances/{ticket}", h.shop.Attendance, secretRule},
		{"POST /tickets/{code}/transfers", h.shop.Offer, pageRule},
		{"POST /tickets/{code}/withdrawals", h.shop.Withdraw, pageRule},

		{"POST /wallets/{language}/v1/devices/{device}/registrations/{type}/{serial}", h.shop.RegisterDevice, secretRule},
		{"DELETE /wallets/{language}/v1/devices/{device}/registrations/{type}/{serial}", h.shop.UnregisterDevice, secretRule},
		{"GET /wallets/{language}/v1/devices/{device}/registrations/{type}", h.shop.ChangedPasses, secretRule},
		{"GET /wallets/{language}/v1/passes/{type}/{serial}", h.shop.LatestPass, secretRule},
		{"POST /wallets/{language}/v1/log", h.shop.WalletLog, secretRule},

		{"GET /payments/{code}", h.shop.Payment, buyRule},
		{"POST /payments/{code}/stop", h.shop.StopPayment, shopRule}, // not Once, which keeps a transaction open: a provider is called
		{"POST /payments/{code}/mails", h.Once(h.shop.ConfirmAgain), shopRule},
		{"GET /confirmations/{token}", h.shop.Confirmation, secretRule},
		{"POST /confirmations/{token}", h.shop.ConfirmOrder, secretRule},
		{"GET /demo-card/{reference}", h.shop.DemoCard, pageRule},
		{"POST /demo-card/{reference}", h.Once(h.shop.AnswerDemoCard), pageRule},
		{"POST /webhooks/stripe", h.shop.StripeWebhook, pageRule},
		{"GET /account", h.Visit(h.shop.Account), pageRule},
		{"POST /account/vouchers", h.Once(h.Visit(h.shop.Redeem)), pageRule},
		{"POST /account/links", h.Visit(h.shop.AskLink), pageRule},
		{"GET /account/links/{token}", h.shop.Link, pageRule},
		{"POST /account/session", h.Visit(h.shop.SignIn), pageRule},
		{"POST /account/session/options", h.Visit(h.shop.PasskeyOptions), pageRule},
		{"POST /account/session/passkey", h.Visit(h.shop.PasskeySignIn), pageRule},
		{"POST /account/passkeys/options", h.Visit(h.shop.NewPasskeyOptions), pageRule},
		{"POST /account/passkeys", h.Visit(h.shop.AddPasskey), pageRule},
		{"POST /account/passkeys/{id}/removal", h.Once(h.Visit(h.shop.RemovePasskey)), pageRule},
		{"DELETE /account/session", h.Visit(h.shop.SignOut), pageRule},
		{"POST /account/session/end", h.Visit(h.shop.SignOut), pageRule},
		{"POST /account/sessions/end", h.Visit(h.shop.SignOutOthers), pageRule},

		{"GET /personal-data", h.shop.PersonalData, pageRule},
		{"POST /personal-data", h.shop.AskPersonalData, pageRule},
		{"GET /personal-data/{token}", h.shop.PersonalLink, secretRule},
		{"POST /personal-data/{token}", h.shop.ExportPersonalData, secretRule},

		{"GET /unsubscribe/{order}", h.shop.AskUnsubscribe, secretRule},
		{"POST /unsubscribe/{order}", h.shop.Unsubscribe, secretRule},

		{"GET /gift-cards", h.shop.GiftCards, pageRule},
		{"POST /gift-cards", h.Once(h.shop.BuyGiftCard), pageRule},
		{"GET /gift-cards/{code}", h.shop.GiftCard, secretRule},
		{"GET /gift-cards/{code}/card.pdf", h.shop.GiftCardPaper, secretRule},

		{"GET /rooms/{slug}", h.shop.In(h.shop.Room), pageRule},
		{"GET /rooms/{slug}/status", h.shop.In(h.shop.RoomStatus), statusRule},
		{"GET /rooms/{slug}/live", h.shop.In(h.shop.RoomLive), streamRule},
		{"GET /rooms/{slug}/draw", h.shop.In(h.shop.RoomDraw), pageRule},
		{"GET /rooms/{slug}/draw.json", h.shop.In(h.shop.RoomRecord), minuteRule},
		{"GET /rooms/{slug}/waits", h.shop.In(h.shop.RoomWaits), pageRule},
		{"GET /rooms/{slug}/waits.json", h.shop.In(h.shop.RoomHeld), minuteRule},
		{"GET /rooms/{slug}/fairness", h.shop.In(h.shop.RoomFairness), pageRule},
		{"GET /rooms/{slug}/fairness.csv", h.shop.In(h.shop.RoomFairnessCSV), minuteRule},
		{"GET /rooms/{slug}/invitations/{invitation}", h.shop.In(h.shop.RoomInvitation), pageRule},
		{"GET /rooms/{slug}/work", h.shop.In(h.shop.RoomWork), pageRule},
		{"POST /rooms/{slug}/places", h.shop.In(h.shop.Join), secretRule},
		{"POST /rooms/{slug}/presence", h.shop.In(h.shop.Present), secretRule},
		{"POST /rooms/{slug}/admissions", h.shop.In(h.shop.Admit), secretRule},
		{"POST /rooms/{slug}/departure", h.shop.In(h.shop.Depart), secretRule},
		{"POST /rooms/{slug}/notifications", h.shop.In(h.shop.TellTurn), secretRule},
		{"GET /push.js", h.shop.PushWorker, pageRule},

		{"GET /desk", h.desk.Member(organizers.Enter, h.desk.Home), secretRule},
		{"GET /desk/events", h.desk.Member(organizers.Enter, h.desk.Events), secretRule},
		{"GET /desk/search", h.desk.Member(organizers.Enter, h.desk.Search), secretRule},
		{"GET /desk/events/new", h.desk.Member(organizers.Manage, h.desk.NewEvent), secretRule},
		{"POST /desk/events", h.desk.Member(organizers.Manage, h.desk.CreateEvent), plansRule},
		{"GET /desk/events/{slug}", h.desk.OnEvent(organizers.Look, h.desk.Event), secretRule},
		{"GET /desk/subscriptions", h.desk.Member(organizers.Look, h.desk.Subscriptions), secretRule},
		{"POST /desk/subscriptions", h.desk.Member(organizers.Manage, h.desk.DefineSubscription), secretRule},
		{"GET /desk/subscriptions/new", h.desk.Member(organizers.Manage, h.desk.NewSubscription), secretRule},
		{"GET /desk/subscriptions/{subscription}", h.desk.Member(organizers.Look, h.desk.Subscription), secretRule},
		{"POST /desk/subscriptions/{subscription}", h.desk.Member(organizers.Manage, h.desk.ChangeSubscription), secretRule},
		{"POST /desk/subscriptions/{subscription}/renewal", h.desk.Member(organizers.Manage, h.desk.RenewSubscription), secretRule},
		{"GET /desk/series", h.desk.Member(organizers.Look, h.desk.SeriesList), secretRule},
		{"GET /desk/series/{series}", h.desk.Member(organizers.Look, h.desk.Series), secretRule},
		{"POST /desk/series/{series}/performances", h.desk.Member(organizers.Manage, h.desk.AddPerformances), secretRule},
		{"POST /desk/series/{series}/changes", h.desk.Member(organizers.Manage, h.desk.ChangeSeries), secretRule},
		{"GET /desk/events/{slug}/series", h.desk.OnEvent(organizers.Manage, h.desk.NewSeries), secretRule},
		{"POST /desk/events/{slug}/series", h.desk.OnEvent(organizers.Manage, h.desk.MakeSeries), secretRule},
		{"GET /desk/events/{slug}/settings", h.desk.OnEvent(organizers.Manage, h.desk.Settings), secretRule},
		{"POST /desk/events/{slug}/settings", h.desk.OnEvent(organizers.Manage, h.desk.SaveSettings), secretRule},
		{"GET /desk/events/{slug}/page", h.desk.OnEvent(organizers.Promote, h.desk.EventPage), secretRule},
		{"POST /desk/events/{slug}/page", h.desk.OnEvent(organizers.Promote, h.desk.SaveEventPage), textsRule},
		{"POST /desk/events/{slug}/pictures", h.desk.OnEvent(organizers.Promote, h.desk.AddPicture), uploadRule},
		{"POST /desk/events/{slug}/pictures/{id}", h.desk.OnEvent(organizers.Promote, h.desk.ChangePicture), secretRule},
		{"POST /desk/events/{slug}/test", h.desk.OnEvent(organizers.Manage, h.desk.StartTestSale), secretRule},
		{"POST /desk/events/{slug}/test/closing", h.desk.OnEvent(organizers.Manage, h.desk.EndTestSale), secretRule},
		{"GET /desk/events/{slug}/rehearsal", h.desk.OnEvent(organizers.Manage, h.desk.Rehearsal), secretRule},
		{"GET /desk/events/{slug}/rehearsal/map.bin", h.desk.OnEvent(organizers.Manage, h.desk.RehearsalMap), secretRule},
		{"POST /desk/events/{slug}/rehearsal", h.desk.OnEvent(organizers.Manage, h.desk.Rehearse), secretRule},
		{"POST /desk/events/{slug}/rehearsal/stop", h.desk.OnEvent(organizers.Manage, h.desk.StopRehearsal), secretRule},
		{"GET /desk/events/{slug}/checklist", h.desk.OnEvent(organizers.Manage, h.desk.Checklist), secretRule},
		{"POST /desk/events/{slug}/status", h.desk.OnEvent(organizers.Manage, h.desk.SetStatus), secretRule},
		{"POST /desk/events/{slug}/copies", h.desk.OnEvent(organizers.Manage, h.desk.CopyEvent), secretRule},
		{"GET /desk/events/{slug}/preview", h.desk.OnEvent(organizers.Look, h.desk.Preview), secretRule},
		{"GET /desk/events/{slug}/seats", h.desk.OnEvent(organizers.Sell, h.desk.ListSeats), secretRule},
		{"GET /desk/events/{slug}/seats/{idx}", h.desk.OnEvent(organizers.Look, h.desk.Seat), secretRule},
		{"GET /desk/events/{slug}/blocks", h.desk.OnEvent(organizers.Look, h.desk.ListBlocks), secretRule},
		{"POST /desk/events/{slug}/blocks", h.desk.OnEvent(organizers.Manage, h.desk.Block), secretRule},
		{"POST /desk/events/{slug}/blocks/{block}", h.desk.OnEvent(organizers.Manage, h.desk.ChangeBlock), secretRule},
		{"POST /desk/events/{slug}/unblocks", h.desk.OnEvent(organizers.Manage, h.desk.Unblock), secretRule},
		{"GET /desk/events/{slug}/guests", h.desk.OnEvent(organizers.Sell, h.desk.GuestList), secretRule},
		{"POST /desk/events/{slug}/guests", h.desk.OnEvent(organizers.Sell, h.desk.AddGuests), secretRule},
		{"POST /desk/events/{slug}/guests/tickets", h.desk.OnEvent(organizers.Sell, h.desk.IssueGuests), secretRule},
		{"POST /desk/events/{slug}/guests/{guest}/removal", h.desk.OnEvent(organizers.Sell, h.desk.StrikeGuest), secretRule},
		{"GET /desk/events/{slug}/bookings", h.desk.OnEvent(organizers.Sell, h.desk.ListBookings), secretRule},
		{"POST /desk/events/{slug}/bookings", h.desk.OnEvent(organizers.Sell, h.desk.TakeOption), secretRule},
		{"GET /desk/events/{slug}/bookings/{booking}", h.desk.OnEvent(organizers.Sell, h.desk.Booking), secretRule},
		{"POST /desk/events/{slug}/bookings/{booking}", h.desk.OnEvent(organizers.Sell, h.desk.ChangeBooking), secretRule},
		{"POST /desk/events/{slug}/bookings/{booking}/seats", h.desk.OnEvent(organizers.Sell, h.desk.ReduceBooking), secretRule},
		{"POST /desk/events/{slug}/bookings/{booking}/order", h.desk.OnEvent(organizers.Sell, h.desk.ConfirmBooking), secretRule},
		{"POST /desk/events/{slug}/bookings/{booking}/names", h.desk.OnEvent(organizers.Sell, h.desk.NameBooking), secretRule},
		{"POST /desk/events/{slug}/bookings/{booking}/deposit/payment", h.desk.OnEvent(organizers.Sell, h.desk.PayDeposit), secretRule},
		{"POST /desk/events/{slug}/bookings/{booking}/deposit/end", h.desk.Proved(organizers.Manage, h.desk.OfEvent(h.desk.EndDeposit)), secretRule},
		{"POST /desk/events/{slug}/bookings/{booking}/cancellation", h.desk.OnEvent(organizers.Sell, h.desk.CancelBooking), secretRule},
		{"POST /desk/events/{slug}/sales", h.desk.OnEvent(organizers.Sell, h.desk.SellSeats), secretRule},
		{"GET /desk/events/{slug}/till", h.desk.OnEvent(organizers.Sell, h.desk.Till), secretRule},
		{"GET /desk/events/{slug}/till/best", h.desk.OnEvent(organizers.Sell, h.desk.BestSeats), secretRule},
		{"GET /desk/events/{slug}/till/tickets/{code}", h.desk.OnEvent(organizers.Sell, h.desk.PrintTickets), secretRule},
		{"GET /desk/events/{slug}/orders", h.desk.OnEvent(organizers.Find, h.desk.ListOrders), secretRule},
		{"POST /desk/events/{slug}/cancellations", h.desk.OnEventOnce(organizers.Manage, h.desk.CancelMany), secretRule},
		{"GET /desk/events/{slug}/orders/{code}", h.desk.OnEvent(organizers.Find, h.desk.Order), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/cancellations", h.desk.OnEvent(organizers.Manage, h.desk.OnOrder(h.desk.CancelOrder)), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/refunds", h.desk.OnEvent(organizers.Manage, h.desk.OnOrder(h.desk.Refund)), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/moves", h.desk.OnEvent(organizers.Manage, h.desk.OnOrder(h.desk.Move)), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/exchanges", h.desk.OnEvent(organizers.Exchange, h.desk.ExchangeOrder), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/mails", h.desk.OnEvent(organizers.Manage, h.desk.OnOrder(h.desk.Resend)), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/payments", h.desk.OnEvent(organizers.Sell, h.desk.OnOrder(h.desk.Paid)), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/payouts", h.desk.Proved(organizers.Manage, h.desk.OfEvent(h.desk.OnOrder(h.desk.PaidOut))), secretRule},
		{"POST /desk/events/{slug}/orders/{code}/due", h.desk.OnEvent(organizers.Manage, h.desk.OnOrder(h.desk.ExtendDue)), secretRule},
		{"GET /desk/events/{slug}/post", h.desk.OnEvent(organizers.Look, h.desk.Post), secretRule},
		{"POST /desk/events/{slug}/post", h.desk.OnEvent(organizers.Sell, h.desk.MarkPosted), secretRule},
		{"GET /desk/events/{slug}/exports/{file}", h.desk.OnEvent(organizers.Manage, h.desk.Export), secretRule},
		{"GET /desk/events/{slug}/doors", h.desk.OnEvent(organizers.Admit, h.desk.Doors), secretRule},
		{"POST /desk/events/{slug}/doors", h.desk.OnEvent(organizers.Admit, h.desk.OpenDoor), secretRule},
		{"POST /desk/events/{slug}/doors/closing", h.desk.OnEvent(organizers.Manage, h.desk.CloseDoors), secretRule},
		{"POST /desk/events/{slug}/doors/{door}/closing", h.desk.OnEvent(organizers.Manage, h.desk.CloseDoor), secretRule},
		{"GET /desk/events/{slug}/messages", h.desk.OnEvent(organizers.Promote, h.desk.Messages), secretRule},
		{"POST /desk/events/{slug}/messages", h.desk.OnEvent(organizers.Promote, h.desk.TellAttendees), secretRule},
		{"POST /desk/events/{slug}/messages/{message}/stop", h.desk.OnEvent(organizers.Promote, h.desk.StopMessage), secretRule},
		{"GET /desk/events/{slug}/comparison", h.desk.OnEvent(organizers.Promote, h.desk.Comparison), secretRule},
		{"GET /desk/events/{slug}/settlement", h.desk.OnEvent(organizers.Account, h.desk.Settlement), secretRule},
		{"GET /desk/events/{slug}/settlement.pdf", h.desk.OnEvent(organizers.Account, h.desk.SettlementPaper), secretRule},
		{"POST /desk/events/{slug}/settlement", h.desk.OnEvent(organizers.Account, h.desk.SetShares), secretRule},
		{"GET /desk/events/{slug}/letters", h.desk.OnEvent(organizers.Promote, h.desk.Letters), secretRule},
		{"POST /desk/events/{slug}/letters", h.desk.OnEvent(organizers.Promote, h.desk.SaveLetters), secretRule},
		{"GET /desk/events/{slug}/shares", h.desk.OnEvent(organizers.Promote, h.desk.Shares), secretRule},
		{"POST /desk/events/{slug}/shares", h.desk.OnEvent(organizers.Promote, h.desk.Share), secretRule},
		{"POST /desk/events/{slug}/shares/{id}/revocation", h.desk.OnEvent(organizers.Promote, h.desk.Unshare), secretRule},
		{"GET /boards/{token}", h.desk.OnBoard(h.desk.Board), secretRule},
		{"GET /boards/{token}/live", h.desk.OnBoard(h.desk.BoardFeed), streamRule},
		{"GET /desk/events/{slug}/live", h.desk.OnEvent(organizers.Look, h.desk.Feed), streamRule},
		{"GET /desk/events/{slug}/geometry.json", h.desk.OnEvent(organizers.Look, h.deskGeometry), secretRule},
		{"GET /desk/events/{slug}/replay.bin", h.desk.OnEvent(organizers.Look, h.desk.Replay), secretRule},
		{"POST /desk/events/{slug}/seen", h.desk.OnEventOnce(organizers.Sell, h.desk.Seen), secretRule},
		{"GET /desk/events/{slug}/prices", h.desk.OnEvent(organizers.Look, h.desk.Prices), secretRule},
		{"POST /desk/events/{slug}/prices", h.desk.OnEvent(organizers.Manage, h.desk.SetPrices), secretRule},
		{"GET /desk/events/{slug}/codes", h.desk.OnEvent(organizers.Promote, h.desk.Codes), secretRule},
		{"POST /desk/events/{slug}/codes", h.desk.OnEvent(organizers.Promote, h.desk.NewCodes), textsRule},
		{"POST /desk/events/{slug}/codes/retirements", h.desk.OnEvent(organizers.Promote, h.desk.StopCodes), secretRule},
		{"GET /desk/events/{slug}/limits", h.desk.OnEvent(organizers.Look, h.desk.ShowLimits), secretRule},
		{"POST /desk/events/{slug}/limits", h.desk.OnEvent(organizers.Manage, h.desk.SetLimits), secretRule},
		{"GET /desk/events/{slug}/log", h.desk.OnEvent(organizers.Look, h.desk.PublicLog), secretRule},
		{"POST /desk/events/{slug}/log", h.desk.OnEvent(organizers.Manage, h.desk.SwitchLog), secretRule},
		{"POST /desk/events/{slug}/fairness", h.desk.OnEvent(organizers.Manage, h.desk.PublishFairness), secretRule},
		{"GET /desk/events/{slug}/room", h.desk.OnEvent(organizers.Manage, h.desk.RoomPage), secretRule},
		{"POST /desk/events/{slug}/room", h.desk.OnEvent(organizers.Manage, h.desk.SteerRoom), textsRule},
		{"GET /desk/events/{slug}/waitlist", h.desk.OnEvent(organizers.Look, h.desk.WaitList), secretRule},
		{"POST /desk/events/{slug}/waitlist", h.desk.OnEvent(organizers.Manage, h.desk.SteerWaitList), secretRule},

		{"GET /desk/till", h.desk.Member(organizers.Sell, h.desk.Tills), secretRule},
		{"POST /desk/till", h.desk.Member(organizers.Manage, h.desk.SetTill), secretRule},
		{"POST /desk/till/sessions", h.desk.Member(organizers.Sell, h.desk.OpenTill), secretRule},
		{"GET /desk/till/sessions/{file}", h.desk.Member(organizers.Sell, h.desk.TillSession), secretRule},
		{"POST /desk/till/sessions/{id}/entries", h.desk.Member(organizers.Sell, h.desk.AddToTill), secretRule},
		{"POST /desk/till/sessions/{id}/closing", h.desk.Member(organizers.Sell, h.desk.CloseTill), secretRule},
		{"GET /desk/till/sessions/{id}/reader", h.desk.Member(organizers.Sell, h.desk.Readers), secretRule},
		{"POST /desk/till/sessions/{id}/reader", h.desk.Member(organizers.Sell, h.desk.UseReader), secretRule},
		{"GET /desk/till/payments/{code}", h.desk.Member(organizers.Sell, h.desk.ReaderPayment), secretRule},
		{"POST /desk/till/payments/{code}/cancellation", h.desk.Member(organizers.Sell, h.desk.CancelReaderPayment), secretRule},
		{"GET /desk/till/days/{file}", h.desk.Member(organizers.Look, h.desk.TillDay), secretRule},
		{"GET /desk/customers", h.desk.Member(organizers.Manage, h.desk.Customers), secretRule},
		{"GET /desk/customers/duplicates", h.desk.Member(organizers.Manage, h.desk.DuplicateCustomers), secretRule},
		{"POST /desk/customers/imports", h.desk.Member(organizers.Manage, h.desk.ImportCustomers), textsRule},
		{"GET /desk/customers/{id}", h.desk.Member(organizers.Manage, h.desk.Customer), secretRule},
		{"GET /desk/memberships", h.desk.Member(organizers.Manage, h.desk.Memberships), secretRule},
		{"POST /desk/memberships", h.desk.Member(organizers.Manage, h.desk.GiveMembership), secretRule},
		{"GET /desk/memberships/members.csv", h.desk.Member(organizers.Manage, h.desk.MembershipsFile), secretRule},
		{"POST /desk/memberships/kinds", h.desk.Member(organizers.Manage, h.desk.SetMembershipKind), secretRule},
		{"POST /desk/memberships/imports", h.desk.Member(organizers.Manage, h.desk.ImportMemberships), textsRule},
		{"POST /desk/memberships/{membership}/end", h.desk.Member(organizers.Manage, h.desk.EndMembership), secretRule},
		{"POST /desk/customers/{id}", h.desk.Member(organizers.Manage, h.desk.NoteCustomer), secretRule},
		{"POST /desk/customers/{id}/merges", h.desk.Member(organizers.Manage, h.desk.MergeCustomers), secretRule},
		{"POST /desk/customers/{id}/separations", h.desk.Member(organizers.Manage, h.desk.SeparateCustomer), secretRule},
		{"GET /desk/team", h.desk.Member(organizers.Look, h.desk.Team), secretRule},
		{"POST /desk/team", h.desk.Proved(organizers.Own, h.desk.RenameTeam), secretRule},
		{"POST /desk/teams", h.Once(h.desk.Member(organizers.Own, h.desk.NewTeam)), secretRule}, // read first: the first answer replaces the session that a repeat has
		{"POST /desk/team/invitations", h.desk.Proved(organizers.Own, h.desk.Invite), secretRule},
		{"POST /desk/team/invitations/{id}/withdrawal", h.desk.Proved(organizers.Own, h.desk.WithdrawInvitation), secretRule},
		{"POST /desk/team/members/{id}", h.desk.Proved(organizers.Own, h.desk.SetRole), secretRule},
		{"POST /desk/team/members/{id}/removal", h.desk.Proved(organizers.Own, h.desk.RemoveMember), secretRule},
		{"POST /desk/team/second-factor", h.desk.Proved(organizers.Own, h.desk.DemandSecond), secretRule},
		{"GET /desk/keys", h.desk.Member(organizers.Own, h.desk.APIKeys), secretRule},
		{"POST /desk/keys", h.desk.Proved(organizers.Own, h.desk.NewAPIKey), secretRule},
		{"GET /desk/keys/requests", h.desk.Member(organizers.Look, h.desk.KeyRequests), secretRule},
		{"POST /desk/keys/{id}/revocation", h.desk.Proved(organizers.Own, h.desk.RevokeAPIKey), secretRule},
		{"GET /desk/alerts", h.desk.Member(organizers.Look, h.desk.Alerts), secretRule},
		{"POST /desk/alerts", h.desk.Member(organizers.Look, h.desk.ChooseAlerts), secretRule},
		{"POST /desk/alerts/tests", h.desk.Member(organizers.Look, h.desk.TryAlerts), secretRule},
		{"GET /desk/hooks", h.desk.Member(organizers.Own, h.desk.HookList), secretRule},
		{"POST /desk/hooks", h.desk.Proved(organizers.Own, h.desk.NewHook), secretRule},
		{"GET /desk/hooks/{id}", h.desk.Member(organizers.Own, h.desk.OnHook(h.desk.ShowHook)), secretRule},
		{"POST /desk/hooks/{id}", h.desk.Proved(organizers.Own, h.desk.OnHook(h.desk.ChangeHook)), secretRule},
		{"POST /desk/hooks/{id}/secrets", h.desk.Proved(organizers.Own, h.desk.OnHook(h.desk.NewHookSecret)), secretRule},
		{"POST /desk/hooks/{id}/tests", h.desk.Member(organizers.Own, h.desk.OnHook(h.desk.TryHook)), secretRule},
		{"POST /desk/hooks/{id}/switch", h.desk.Proved(organizers.Own, h.desk.OnHook(h.desk.SwitchHook)), secretRule},
		{"POST /desk/hooks/{id}/notices/{notice}/repeats", h.desk.Member(organizers.Own, h.desk.OnHook(h.desk.RepeatDelivery)), secretRule},
		{"POST /desk/hooks/{id}/removal", h.desk.Proved(organizers.Own, h.desk.OnHook(h.desk.RemoveHook)), secretRule},
		{"GET /desk/privacy", h.desk.Member(organizers.Own, h.desk.Privacy), secretRule},
		{"POST /desk/privacy", h.desk.Proved(organizers.Own, h.desk.SetRetention), secretRule},
		{"POST /desk/privacy/exports", h.desk.ProvedFirst(organizers.Own, h.desk.ExportPerson), secretRule},
		{"POST /desk/privacy/erasures", h.desk.ProvedOnce(organizers.Own, h.desk.ErasePerson), secretRule},
		{"GET /desk/branding", h.desk.Member(organizers.Promote, h.desk.TeamBranding), secretRule},
		{"POST /desk/branding", h.desk.Member(organizers.Promote, h.desk.SaveBranding), secretRule},
		{"GET /desk/branding/ticket.pdf", h.desk.Member(organizers.Promote, h.desk.SampleTicket), secretRule},
		{"POST /desk/branding/pictures", h.desk.Member(organizers.Promote, h.desk.AddTeamPicture), uploadRule},
		{"POST /desk/branding/pictures/removal", h.desk.Member(organizers.Promote, h.desk.RemoveTeamPicture), secretRule},
		{"GET /desk/site", h.desk.Member(organizers.Own, h.desk.Site), secretRule},
		{"POST /desk/site", h.desk.Proved(organizers.Own, h.desk.SaveSites), secretRule},
		{"POST /desk/site/keys", h.desk.Proved(organizers.Own, h.desk.MakeSiteKey), secretRule},
		{"POST /desk/site/keys/{id}/end", h.desk.Proved(organizers.Own, h.desk.EndSiteKey), secretRule},
		{"POST /desk/site/domain", h.desk.Proved(organizers.Own, h.desk.AskDomain), secretRule},
		{"POST /desk/site/domain/proof", h.desk.Proved(organizers.Own, h.desk.ProveDomain), secretRule},
		{"POST /desk/site/domain/removal", h.desk.Proved(organizers.Own, h.desk.RemoveDomain), secretRule},
		{"GET /desk/mail-texts", h.desk.Member(organizers.Promote, h.desk.MailTexts), secretRule},
		{"POST /desk/mail-texts", h.desk.Member(organizers.Promote, h.desk.SaveMailText), secretRule},
		{"GET /desk/legal", h.desk.Member(organizers.Manage, h.desk.LegalTexts), secretRule},
		{"POST /desk/legal", h.desk.Member(organizers.Manage, h.desk.SaveLegalText), textsRule},
		{"GET /desk/bank", h.desk.Member(organizers.Account, h.desk.ShowBank), secretRule},
		{"POST /desk/bank", h.desk.Proved(organizers.Own, h.desk.SaveBank), secretRule},
		{"POST /desk/bank/statements", h.desk.Member(organizers.Account, h.desk.ImportStatement), statementsRule},
		{"POST /desk/bank/matches", h.desk.MemberOnce(organizers.Account, h.desk.MatchEntries), secretRule},
		{"POST /desk/bank/entries/{id}", h.desk.Member(organizers.Account, h.desk.DecideEntry), secretRule},
		{"GET /desk/taxes", h.desk.Member(organizers.Account, h.desk.Taxes), secretRule},
		{"POST /desk/taxes", h.desk.Member(organizers.Manage, h.desk.SetTaxes), secretRule},
		{"GET /desk/books", h.desk.Member(organizers.Account, h.desk.Books), secretRule},
		{"GET /desk/books/email", h.desk.Member(organizers.Account, h.desk.BooksEmail), secretRule},
		{"POST /desk/books/email", h.desk.Member(organizers.Account, h.desk.SetBooksEmail), secretRule},
		{"GET /desk/books/accounts", h.desk.Member(organizers.Account, h.desk.Accounts), secretRule},
		{"POST /desk/books/accounts", h.desk.Member(organizers.Account, h.desk.SetAccounts), secretRule},
		{"GET /desk/books/payouts", h.desk.Member(organizers.Account, h.desk.Payouts), secretRule},
		{"POST /desk/books/payouts", h.desk.Member(organizers.Account, h.desk.ReadPayouts), secretRule},
		{"GET /desk/books/payouts/{file}", h.desk.Member(organizers.Account, h.desk.Payout), secretRule},
		{"GET /desk/books/{file}", h.desk.Member(organizers.Account, h.desk.BooksFile), secretRule},
		{"GET /desk/invoices", h.desk.Member(organizers.Account, h.desk.Invoices), secretRule},
		{"POST /desk/invoices", h.desk.Proved(organizers.Own, h.desk.SaveSender), secretRule},
		{"GET /desk/invoices/{file}", h.desk.Member(organizers.Account, h.desk.Invoice), secretRule},
		{"GET /desk/gift-cards", h.desk.Member(organizers.Manage, h.desk.GiftCards), secretRule},
		{"POST /desk/gift-cards", h.desk.Member(organizers.Own, h.desk.SetGiftCards), secretRule},
		{"POST /desk/gift-cards/{id}/refunds", h.desk.Proved(organizers.Manage, h.desk.RefundGiftCard), secretRule},
		{"GET /desk/log", h.desk.Member(organizers.Manage, h.desk.ShowLog), secretRule},

		{"GET /desk/account", h.desk.Member(organizers.Self, h.desk.Account), secretRule},
		{"POST /desk/account", h.desk.MemberOnce(organizers.Self, h.desk.RenameAccount), secretRule},
		{"POST /desk/account/password", h.Once(h.desk.Member(organizers.Self, h.desk.ChangePassword)), secretRule}, // as /desk/teams
		{"POST /desk/account/passkeys/options", h.desk.Proved(organizers.Self, h.desk.NewPasskeyOptions), secretRule},
		{"POST /desk/account/passkeys", h.desk.Proved(organizers.Self, h.desk.AddPasskey), secretRule},
		{"POST /desk/account/passkeys/{id}", h.desk.MemberOnce(organizers.Self, h.desk.RenamePasskey), secretRule},
		{"POST /desk/account/passkeys/{id}/removal", h.desk.ProvedOnce(organizers.Self, h.desk.RemovePasskey), secretRule},
		{"POST /desk/account/sessions/{id}/end", h.desk.ProvedOnce(organizers.Self, h.desk.EndSession), secretRule},
		{"GET /desk/account/second-factor", h.desk.Proved(organizers.Self, h.desk.SecondFactor), secretRule},
		{"POST /desk/account/codes", h.desk.Proved(organizers.Self, h.desk.ConfirmApp), secretRule},
		{"POST /desk/account/codes/removal", h.desk.ProvedOnce(organizers.Self, h.desk.RemoveApp), secretRule},
		{"POST /desk/account/recovery", h.desk.Proved(organizers.Self, h.desk.NewRecoveryCodes), secretRule},
		{"GET /desk/account/openid", h.desk.Proved(organizers.Self, h.desk.ConnectOpenID), secretRule},
		{"POST /desk/account/openid/removal", h.desk.ProvedOnce(organizers.Self, h.desk.RemoveOpenID), secretRule},
		{"GET /desk/session/proof", h.desk.Member(organizers.Self, h.desk.ProofPage), secretRule},
		{"POST /desk/session/proof", h.desk.Member(organizers.Self, h.desk.Confirm), secretRule},
		{"POST /desk/session/proof/passkey", h.desk.Member(organizers.Self, h.desk.ProvePasskey), secretRule},
		{"GET /desk/session/proof/openid", h.desk.Member(organizers.Self, h.desk.OpenIDProof), secretRule},
		{"POST /desk/session/team", h.desk.Member(organizers.Self, h.desk.Switch), secretRule},
		{"POST /desk/session/everywhere", h.desk.ProvedFirst(organizers.Self, h.desk.SignOutEverywhere), secretRule},

		{"GET /desk/events/{slug}/plan", h.desk.OnEvent(organizers.Manage, h.desk.EventPlan), secretRule},
		{"POST /desk/events/{slug}/plan", h.desk.OnEvent(organizers.Manage, h.desk.ReplacePlan), secretRule},
		{"POST /desk/events/{slug}/plan/copies", h.desk.OnEvent(organizers.Manage, h.desk.CopyPlan), secretRule},
		{"GET /desk/plans", h.desk.Member(organizers.Look, h.desk.Plans), secretRule},
		{"POST /desk/plans", h.desk.Member(organizers.Manage, h.desk.NewPlan), secretRule},
		{"GET /desk/plans/{plan}", h.desk.Member(organizers.Look, h.desk.Plan), secretRule},
		{"GET /desk/plans/{plan}/editor", h.desk.Member(organizers.Manage, h.desk.Editor), secretRule},
		{"GET /desk/plans/{plan}/versions/{file}", h.desk.Member(organizers.Look, h.desk.PlanVersion), secretRule},
		{"POST /desk/plans/{plan}/versions", h.desk.Member(organizers.Manage, h.desk.SavePlan), plansRule},
		{"POST /desk/plans/{plan}/pictures", h.desk.Member(organizers.Manage, h.desk.AddPlanPicture), uploadRule},
		{"GET /desk/plans/{plan}/pictures/{picture}", h.desk.Member(organizers.Manage, h.desk.PlanPicture), secretRule},
		{"POST /desk/imports", h.desk.MemberOnce(organizers.Manage, h.desk.NewImport), plansRule},
		{"GET /desk/imports/{id}", h.desk.Member(organizers.Manage, h.desk.ShowImport), secretRule},
		{"POST /desk/imports/{id}", h.desk.Member(organizers.Manage, h.desk.TakeImport), secretRule},
		{"GET /desk/session", h.Visit(h.desk.SignInPage), secretRule},
		{"POST /desk/session", h.Visit(h.desk.SignIn), secretRule},
		{"DELETE /desk/session", h.Visit(h.desk.SignOut), secretRule},
		{"POST /desk/session/end", h.Visit(h.desk.SignOut), secretRule},
		{"GET /desk/session/second", h.Visit(h.desk.SecondStep), secretRule},
		{"POST /desk/session/second", h.Visit(h.desk.ShowSecond), secretRule},
		{"POST /desk/session/options", h.Visit(h.desk.PasskeyOptions), secretRule},
		{"POST /desk/session/passkey", h.Visit(h.desk.PasskeySignIn), secretRule},
		{"GET /desk/session/openid", h.Visit(h.desk.OpenID), secretRule},
		{"GET /desk/session/openid/return", h.Visit(h.desk.OpenIDReturn), secretRule},
		{"GET /desk/setup/{token}", h.desk.SetupPage, secretRule},
		{"POST /desk/setup/{token}", h.Once(h.Visit(h.desk.SetUp)), secretRule},
		{"GET /desk/invitations/{token}", h.Visit(h.desk.Invitation), secretRule},
		{"POST /desk/invitations/{token}", h.Once(h.Visit(h.desk.JoinTeam)), secretRule},
		{"GET /desk/password", h.desk.ForgotPassword, secretRule},
		{"POST /desk/password", h.Once(h.desk.AskPassword), secretRule},
		{"GET /desk/password/{token}", h.desk.PasswordLink, secretRule},
		{"POST /desk/password/{token}", h.Once(h.Visit(h.desk.ResetPassword)), secretRule},

		{"GET /legal/{kind}", h.shop.LegalTexts, pageRule},
		{"GET /legal/{team}/{kind}", h.shop.LegalText, pageRule},
		{"GET /pictures/{file}", h.shop.Picture, pictureRule},
		{"GET /openapi.yaml", h.openapi, listRule},
		{"GET /.well-known/security.txt", h.securityText, minuteRule},
		{"GET /tls-domain", h.TLSDomain, secretRule},
		{"GET /healthz", h.Healthz, secretRule},
		{"GET /readyz", h.Readyz, secretRule},
	}
}

func (h *Handlers) deskGeometry(w http.ResponseWriter, _ *http.Request, _ organizers.Member, s *seats.Sale) error {
	return h.shop.DeskGeometry(w, s)
}

// routes answers the addresses of a table, and for all others that they are none.
func (h *Handlers) routes(list []route) http.Handler {
	mux, table := http.NewServeMux(), http.NewServeMux()
	keyed := map[string][]string{} // methods that a site key opens, by path
	for _, r := range list {
		mux.Handle(r.pattern, h.Logged(r.pattern, h.Ruled(r.rule, h.Observed(r.pattern, h.Answer(r.rule, r.handler)))))
		table.HandleFunc(r.pattern, http.NotFound)
		if method, path, _ := strings.Cut(r.pattern, " "); r.rule.Keyed {
			keyed[path] = append(keyed[path], method)
		}
	}
	for path, methods := range keyed {
		mux.Handle("OPTIONS "+path, h.Ruled(secretRule, h.Observed("OPTIONS "+path, h.Answer(secretRule, h.Preflight(methods)))))
	}
	mux.Handle("GET /static/", h.Ruled(keptRule, static.Handler()))
	mux.Handle("/", h.Ruled(pageRule, h.Observed("none", h.unrouted(table))))
	return mux
}

// unrouted answers addresses and methods that are not in the table with a page of ours. Who looks at the address of a form,
// which a browser shows after a refusal, or ends an address with a slash too many, is led to the page they mean.
func (h *Handlers) unrouted(table *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		probe := &statusOnly{header: http.Header{}}
		table.ServeHTTP(probe, r)
		looks := r.Method == http.MethodGet && !web.WantsJSON(r)
		switch {
		case probe.status == http.StatusMethodNotAllowed && looks:
			path, _ := web.Onward(r)
			http.Redirect(w, r, path, http.StatusSeeOther)
		case probe.status == http.StatusMethodNotAllowed:
			w.Header().Set("Allow", probe.header.Get("Allow"))
			h.Fail(w, r, web.ErrMethod)
		case looks && slashed(table, r):
			to := *r.URL
			to.Path, to.RawPath = strings.TrimSuffix(to.Path, "/"), strings.TrimSuffix(to.RawPath, "/")
			http.Redirect(w, r, to.RequestURI(), http.StatusSeeOther)
		default:
			h.Fail(w, r, web.ErrNoPage)
		}
	}
}

// slashed reports whether an address is in the table but for the slash at its end.
func slashed(table *http.ServeMux, r *http.Request) bool {
	path, ends := strings.CutSuffix(r.URL.Path, "/")
	if !ends {
		return false
	}
	without := r.Clone(r.Context())
	without.URL.Path, without.URL.RawPath = path, ""
	_, pattern := table.Handler(without)
	return pattern != ""
}

// statusOnly takes the mux's own answer, of which only status and Allow are wanted.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header { return s.header }

func (s *statusOnly) WriteHeader(status int) { s.status = status }

func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
