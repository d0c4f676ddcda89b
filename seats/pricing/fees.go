package pricing

import (
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// TermsOf are the terms of an event, without a code.
func TermsOf(e *seats.Event) Terms {
	return Terms{Fees: e.Fees, Tax: e.Rules.Tax, Offers: e.Rules.Offers}
}

// linesOf are seats with their types and prices.
func linesOf(held []seats.Line) []Line {
	lines := make([]Line, len(held))
	for i, l := range held {
		lines[i] = Line{Type: l.Type, Category: l.Category, Price: l.Price}
	}
	return lines
}

// CostOf is what seats with these prices cost by the terms of an event.
func CostOf(e *seats.Event, held []seats.Line) Cost { return Total(linesOf(held), TermsOf(e)) }

// Of is what seats of a sale cost together at this moment, with the usual tickets.
func Of(s *seats.Sale, idxs []int) Cost {
	return CostOf(&s.Event, s.Quote(time.Now(), idxs, nil))
}

// WithCode is what seats with these prices cost with the discount of a code; nil for none.
func WithCode(e *seats.Event, held []seats.Line, code *Discount) Cost {
	return Agreed(e, held, code, false)
}

// Agreed is WithCode for a buyer who may owe the tax: then the prices are without it.
func Agreed(e *seats.Event, held []seats.Line, code *Discount, reverse bool) Cost {
	return TermsOf(e).Agreed(held, code, reverse)
}

// Agreed is what seats with these prices cost by terms, with the discount of a code, for a buyer who may owe the tax.
func (t Terms) Agreed(held []seats.Line, code *Discount, reverse bool) Cost {
	t.Code, t.Reverse = code, reverse
	return Total(linesOf(held), t)
}

// TermsAgreed are terms that a buyer agreed to, or those of the event now if there are none.
func TermsAgreed(agreed *Terms, e *seats.Event) Terms {
	if agreed == nil {
		return TermsOf(e)
	}
	return *agreed
}

// Kept is what the organizer keeps of a ticket of this price that an attendee cancels, at most all of it.
func Kept(p seats.Policy, price int64) int64 {
	return min(price, p.CancelFee+percentOf(price, p.CancelPercent))
}

// ReadPercent reads a percentage such as 2.5 in hundredths of a percent.
func ReadPercent(text string) (int, error) { return readRate(text, 2) }

// Percentage writes hundredths of a percent as ReadPercent reads them: 2.5.
func Percentage(hundredths int) string {
	return strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64)
}

// ReadRate reads the rate of a tax such as 8.875 in thousandths of a percent.
func ReadRate(text string) (int, error) { return readRate(text, 3) }

// Rate writes thousandths of a percent as ReadRate reads them: 8.875.
func Rate(thousandths int) string { return strconv.FormatFloat(float64(thousandths)/1000, 'f', -1, 64) }

func readRate(typed string, decimals int) (int, error) {
	whole, rest, _ := strings.Cut(strings.TrimSpace(typed), ".")
	if whole == "" || len(rest) > decimals {
		return 0, unreadable(text.Mark("“%s” is not a percentage such as 2.5, with at most %d decimals."), typed, decimals)
	}
	found, err := strconv.ParseUint(whole+rest+strings.Repeat("0", decimals-len(rest)), 10, 31)
	if hundred, _ := strconv.ParseUint("100"+strings.Repeat("0", decimals), 10, 31); err != nil || found > hundred {
		return 0, unreadable(text.Mark("“%s” is not a percentage between 0 and 100, such as 2.5."), typed)
	}
	return int(found), nil
}

// checkTax returns what is wrong with a tax, empty if nothing is.
func checkTax(t seats.Tax) text.Message {
	rates := []int{t.Rate, t.FeeRate}
	seen := map[int]bool{}
	for _, r := range t.Types {
		if seen[r.Type] {
			return text.Say("A ticket type has one tax rate.")
		}
		seen[r.Type], rates = true, append(rates, r.Rate)
	}
	for _, rate := range rates {
		if rate < 0 || rate >= wholeRate {
			return text.Say("A tax rate is at least 0 and less than 100 percent, such as 8.875.")
		}
	}
	if !seats.OneLine(t.Name, 30) {
		return text.Say("The name of a tax has at most 30 characters, such as VAT.")
	}
	if t.Country != "" && !countryForm.MatchString(t.Country) {
		return text.Say("A country is two letters, such as AT.")
	}
	return text.Message{}
}
