package standin

import (
	"fmt"
	"html"
	"net/http"
)

// page is where a customer in a browser pays, as at Stripe: a card may be declined, which is told there, and there is a way
// back without paying.
const page = `<!doctype html><html lang="en"><title>The bank</title><link rel="icon" href="data:,"><h1>The bank</h1>
%s<form method="post"><button name="card" value="good">Pay</button> <button name="card" value="bad">Pay with a bad card</button>%s</form>
<a href="%s">Back to the shop</a></html>`

func (f *Fake) pay(w http.ResponseWriter, r *http.Request) {
	s := f.find(r.PathValue("id"))
	if s == nil {
		http.NotFound(w, r)
		return
	}
	said := ""
	switch {
	case r.FormValue("card") == "good" && s.Status == "open":
		s.pays()
		http.Redirect(w, r, s.back[0], http.StatusSeeOther)
		return
	case r.FormValue("card") == "debit" && s.Status == "open" && s.Slow:
		s.Status, s.Intent, s.Method = "complete", "processing", "sepa_debit"
		http.Redirect(w, r, s.back[0], http.StatusSeeOther)
		return
	case r.Method == http.MethodPost:
		said = "<p>Your card was declined.</p>"
	}
	if s.Says != "" {
		said += "<p>" + html.EscapeString(s.Says) + "</p>"
	}
	debit := ""
	if s.Slow && !s.Keeps {
		debit = ` <button name="card" value="debit">Pay by debit</button>`
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w, page, said, debit, s.back[1]) // a reader who is gone needs none
}
