package views_test

import (
	"image"
	"image/draw"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	published "github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/shop"
)

// scriptNames are an event, its place and a buyer, by language.
var scriptNames = map[string][3]string{
	"en": {"The Seagull", "Lindengasse Playhouse", "Zoë Østergård"}, "de": {"Die Möwe", "Schauspielhaus Lindengasse", "Käthe Größl"},
	"ja": {"かもめ", "東京芸術劇場", "髙橋 花子"}, "zh": {"海鸥", "國家戲劇院", "李小龙"}, "ko": {"갈매기", "국립극장", "김민준"},
	"ar": {"النورس", "مسرح المدينة", "مُنى الأحمد"}, "he": {"השחף", "תיאטרון הבימה", "שָׁלוֹם כהן"}, "hi": {"सीगल", "राष्ट्रीय नाट्य विद्यालय", "श्रुति कृष्णमूर्ति"},
}

// wordsOf is the text of a PDF, without the marks of direction that Poppler adds, and with one space between words.
func wordsOf(t *testing.T, pdf []byte) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(poppler(t, pdf, "pdftotext"), "paper"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r >= 0x202a && r <= 0x202e || r >= 0x200b && r <= 0x200f {
			return -1
		}
		return r
	}, string(content))), " ")
}

func TestPaper_IsReadAsItWasWrittenInEachScript(t *testing.T) {
	t.Parallel()
	for lang, names := range scriptNames {
		for _, paper := range published.Papers() {
			t.Run(lang+"-"+paper, func(t *testing.T) {
				t.Parallel()
				p, look := paperOrder(t), printedLook(t, "classic")
				p.Event.Name, p.Event.Venue, p.Order.Name = names[0], names[1], names[2]
				p.Order.Tickets = p.Order.Tickets[:1]
				pdf, err := p.Paper(text.With(t.Context(), lang), look, paper)
				if err != nil {
					t.Fatal(err)
				}
				if len(pdf) > 100_000 {
					t.Errorf("one ticket has %d bytes", len(pdf))
				}
				got := wordsOf(t, pdf)
				parts := names[:]
				if paper == published.A4 {
					parts = append(parts, look.About.Facts.Phone)
				}
				for _, name := range parts {
					if !strings.Contains(got, name) {
						t.Errorf("%q is not in what is read: %s", name, got)
					}
				}
			})
		}
	}
}

func TestPapers_AreInTheLanguageOfTheirReader(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	for lang, words := range map[string][2]string{"ja": {"座席", "山田 太郎"}, "ar": {"المقعد", "مُنى الأحمد"}, "de": {"Platz", "Käthe Groß"}} {
		ctx := text.With(t.Context(), lang)
		p := paperOrder(t)
		p.Order.Name = words[1]
		ticket, err := p.Paper(ctx, shop.Print{}, published.A4)
		if err != nil {
			t.Fatal(err)
		}
		invoice, err := shop.InvoicePaper(ctx, invoices.Document{
			Label: "2030-000017", Kind: invoices.Invoice, IssuedAt: at, IssuedOn: at, Currency: "EUR", Net: 1000, Gross: 1000,
			Content: invoices.Content{Seller: invoices.Party{Name: "Theatre", Country: "AT"}, Buyer: invoices.Party{Name: words[1]}, Day: "2030-05-02", Lines: []invoices.Line{{Kind: invoices.LineTicket, Text: words[1], Net: 1000, Gross: 1000}}},
		}, shop.Print{})
		if err != nil {
			t.Fatal(err)
		}
		card := shop.GiftCardPaper(ctx, giftcards.Card{Giver: words[1], Message: words[1], Amount: 5000, Currency: "EUR", Voucher: "ABCD-EFGH", CreatedAt: at}, "https://tickets.example", shop.Print{})
		if got := wordsOf(t, ticket); !strings.Contains(got, words[0]) || !strings.Contains(got, words[1]) {
			t.Errorf("%s: a ticket says %s", lang, got)
		}
		for name, pdf := range map[string][]byte{"invoice": invoice, "gift card": card} {
			if dir := os.Getenv("PAPER"); dir != "" {
				_ = os.WriteFile(dir+"/"+name[:4]+"-"+lang+".pdf", pdf, 0o600)
			}
			if got := wordsOf(t, pdf); !strings.Contains(got, words[1]) || !strings.Contains(got, map[string]string{"ja": "より", "ar": "من", "de": "Von"}[lang]) && name == "gift card" {
				t.Errorf("%s: the %s says %s", lang, name, got)
			}
		}
	}
}

// The camera of a phone at the door is out of focus, and a printer of rolls has 200 dots an inch.
func TestPaper_ABlurredCodeIsRead(t *testing.T) {
	t.Parallel()
	for _, paper := range published.Papers() {
		t.Run(paper, func(t *testing.T) {
			t.Parallel()
			p := paperOrder(t)
			p.Order.Tickets = []orders.Ticket{p.Order.Tickets[0]}
			p.Order.Tickets[0].Code = strings.Repeat("7QK2ZX", 25)[:149]
			pdf, err := p.Paper(t.Context(), printedLook(t, "plain"), paper)
			if err != nil {
				t.Fatal(err)
			}
			folder := poppler(t, pdf, "pdftoppm", "-png", "-r", "150")
			list, _ := filepath.Glob(filepath.Join(folder, "paper-*.png"))
			picture := pictureOf(t, list[0])
			part := picture.Bounds()
			if paper == published.A4 {
				mm := 150 / 25.4
				part = image.Rect(int(139*mm), int(20*mm), int(195*mm), int(76*mm))
			}
			if got := readCode(t, blurred(picture), part); got != p.Order.Tickets[0].Code {
				t.Errorf("the code is read as %q", got)
			}
		})
	}
}

// blurred is a picture of which each dot is the mean of its neighbours within two dots: a third of a millimetre, at 150 dots an inch.
func blurred(m image.Image) image.Image {
	const reach = 2
	grey := image.NewGray(m.Bounds())
	draw.Draw(grey, grey.Rect, m, m.Bounds().Min, draw.Src)
	soft := image.NewGray(grey.Rect)
	for y := range grey.Rect.Dy() {
		for x := range grey.Rect.Dx() {
			sum, n := 0, 0
			for dy := -reach; dy <= reach; dy++ {
				for dx := -reach; dx <= reach; dx++ {
					if image.Pt(x+dx, y+dy).In(grey.Rect) {
						sum += int(grey.GrayAt(x+dx, y+dy).Y)
						n++
					}
				}
			}
			soft.Pix[y*soft.Stride+x] = uint8(sum / n)
		}
	}
	return soft
}
