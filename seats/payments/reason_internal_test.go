package payments

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/text"
)

func TestReason_OfAGermanIsGerman(t *testing.T) {
	t.Parallel()
	german := text.With(t.Context(), "de")
	for _, reason := range []string{reasonTime, reasonTaken, reasonStopped, reasonEnded, reasonOrdered, reasonMail, reasonPrice, reasonAwaited, reasonBounced + ". Nothing was charged."} {
		for _, form := range []string{reason, notOrdered(reason), strings.Replace(reason, "Nothing was charged.", "What you paid goes back to you.", 1)} {
			if got := Reason(form).In(t.Context()); got != form {
				t.Errorf("%q becomes %q in English", form, got)
			}
			said := Reason(form).In(german)
			for sentence := range strings.SplitSeq(form, ". ") {
				if strings.Contains(said, strings.TrimSuffix(sentence, ".")) {
					t.Errorf("%q is said in German as %q", form, said)
				}
			}
		}
	}
	for reason, want := range map[string]string{
		"Your payment was declined: the demo card was told to decline. Nothing was charged.": "Ihre Zahlung wurde abgelehnt: Die Demokarte war auf „Ablehnen“ gestellt. Es wurde nichts abgebucht.",
		"Your payment was declined: Sorry. Nothing was charged.":                             "Ihre Zahlung wurde abgelehnt: Sorry. Es wurde nichts abgebucht.",
		"Everything here is sold. Your other seats are still held. Nothing was charged.":     "Hier ist alles verkauft. Ihre anderen Plätze bleiben reserviert. Es wurde nichts abgebucht.",
	} {
		if got := Reason(reason).In(german); got != want {
			t.Errorf("%q is %q", reason, got)
		}
	}
}
