package banktransfer_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments/banktransfer"
)

// file reads a statement of testdata, with the references of orders in it.
func file(t testing.TB, name string, references ...string) []byte {
	t.Helper()
	content, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	for i, r := range references {
		text = strings.ReplaceAll(text, "REFERENCE"+string(rune('1'+i)), r)
	}
	return []byte(text)
}

func TestReference_IsCheckedAndFoundHoweverItIsTyped(t *testing.T) {
	t.Parallel()
	order := seats.NewID()
	reference := banktransfer.Reference(order)
	if len(reference) != 19 || !strings.HasPrefix(reference, "RF") {
		t.Errorf("the reference is %q", reference)
	}
	bare := strings.ReplaceAll(reference, " ", "")
	for _, typed := range []string{reference, bare, strings.ToLower(reference), "tickets " + bare + ", thanks", "RF00123412341234 " + bare, strings.ReplaceAll(reference, " ", "-")} {
		s, err := banktransfer.Read([]byte("Date,Amount,Text\n2030-03-01,10.00,\""+typed+"\"\n"), "EUR")
		if err != nil || len(s.Entries) != 1 || s.Entries[0].Reference != bare {
			t.Errorf("%q is read as %+v, %v", typed, s.Entries, err)
		}
	}
	wrong := bare[:15] + string("0123456789ABCDEF0"[strings.IndexByte("0123456789ABCDEF", bare[15])+1])
	if s, err := banktransfer.Read([]byte("Date,Amount,Text\n2030-03-01,10.00,"+wrong+"\n"), "EUR"); err != nil || s.Entries[0].Reference != "" {
		t.Errorf("a mistyped reference is read as %+v, %v", s.Entries, err)
	}
}

func TestRead_KnowsCAMTAndCSV(t *testing.T) {
	t.Parallel()
	one, two := banktransfer.Reference(seats.NewID()), banktransfer.Reference(seats.NewID())
	s, err := banktransfer.Read(file(t, "statement.xml", one, two), "EUR")
	if err != nil || s.Format != "CAMT.053" || s.Account != "DE75512108001245126199" || len(s.Entries) != 3 || s.Skipped != 2 {
		t.Fatalf("the CAMT file is %+v, %v", s, err)
	}
	for i, want := range []struct {
		amount    int64
		reference string
		payer     string
	}{{6000, one, "Ann Ørsted"}, {7000, two, "Bob"}, {6500, "", "Eve"}} {
		e := s.Entries[i]
		if e.Amount != want.amount || e.Currency != "EUR" || e.Reference != strings.ReplaceAll(want.reference, " ", "") || e.Payer != want.payer || e.Booked.Day() != 1 {
			t.Errorf("entry %d is %+v", i, e)
		}
	}
	utf8 := file(t, "statement.csv", one)
	var latin []byte
	for _, r := range string(utf8) {
		latin = append(latin, byte(r)) // every character of it is in ISO 8859-1
	}
	for name, content := range map[string][]byte{"UTF-8": utf8, "Windows-1252": latin} {
		s, err := banktransfer.Read(content, "EUR")
		if err != nil || s.Format != "CSV" || len(s.Entries) != 3 || s.Skipped != 1 {
			t.Fatalf("the CSV file in %s is %+v, %v", name, s, err)
		}
		if e := s.Entries[0]; e.Amount != 6000 || e.Reference != strings.ReplaceAll(one, " ", "") || e.Payer != "Ann Ørsted" {
			t.Errorf("%s: the first entry is %+v", name, e)
		}
		if s.Entries[1].Amount != 123450 || s.Entries[1].Key == s.Entries[2].Key {
			t.Errorf("%s: two equal entries are %+v", name, s.Entries[1:])
		}
	}
}

func TestRead_MoneyThatAFileHasTwiceIsOnePayment(t *testing.T) {
	t.Parallel()
	entry := func(name, payer string, parts int) string {
		part := `<TxDtls><Refs><AcctSvcrRef>` + name + `</AcctSvcrRef></Refs><Amt Ccy="EUR">10.00</Amt><RltdPties><Dbtr><Nm>` + payer + `</Nm></Dbtr></RltdPties></TxDtls>`
		return fmt.Sprintf(`<Ntry><Amt Ccy="EUR">%d.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2030-03-01</Dt></BookgDt><NtryDtls>`, 10*parts) + strings.Repeat(part, parts) + `</NtryDtls></Ntry>`
	}
	for what, test := range map[string]struct {
		content          string
		entries, skipped int
	}{
		"one name and content":            {entry("B1", "Ann", 1) + entry("B1", "Ann", 1), 1, 1},
		"two names":                       {entry("B1", "Ann", 1) + entry("B2", "Ann", 1), 2, 0},
		"one name, another payer":         {entry("B1", "Ann", 1) + entry("B1", "Bob", 1), 2, 0},
		"no name":                         {entry("", "Ann", 1) + entry("NONREF", "Ann", 1) + entry("NOTPROVIDED", "Ann", 1), 3, 0},
		"parts of one booking":            {entry("B1", "Ann", 3), 3, 0},
		"parts of one booking, two times": {entry("B1", "Ann", 3) + entry("B1", "Ann", 3), 3, 3},
	} {
		s, err := banktransfer.Read([]byte(`<Document><BkToCstmrStmt><Stmt>`+test.content+`</Stmt></BkToCstmrStmt></Document>`), "EUR")
		keys := map[[32]byte]bool{}
		for _, e := range s.Entries {
			keys[e.Key] = true
		}
		if err != nil || len(keys) != test.entries || len(s.Entries) != test.entries || s.Skipped != test.skipped {
			t.Errorf("%s: %d entries with %d keys, %d skipped, %v", what, len(s.Entries), len(keys), s.Skipped, err)
		}
	}
	s, err := banktransfer.Read([]byte("Date,Amount,Payer,Transaction ID\n2030-03-01,10.00,Ann,B1\n2030-03-01,10.00,Ann,B1\n2030-03-01,10.00,Ann,\n2030-03-01,10.00,Ann,\n"), "EUR")
	if err != nil || len(s.Entries) != 3 || s.Skipped != 1 {
		t.Errorf("the CSV file has %d entries, %d skipped, %v", len(s.Entries), s.Skipped, err)
	}
}

func TestRead_SaysWhatIsWrongWithAFile(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"":                               "empty",
		"\x00\x01":                       "no text",
		"PK\x03\x04zip":                  "ZIP",
		"%PDF-1.4":                       "PDF",
		"<html></html>":                  "no statement",
		"<Document><BkToCstmrStmt>":      "damaged: line 1",
		"hello":                          "no line names a column",
		"Date,Amount\n2030-03-01,ten\n":  "Line 2: its amount",
		"Date,Amount\nsoon,10.00\n":      "Line 2: its date",
		"Date,Amount\n":                  "no entry",
		"Date,Amount\n2030-03-01,\"10\n": "damaged: line",
		"Date,Amount,Currency\n2030-03-01,1,BITCOIN\n":             "currency",
		strings.Repeat("x", banktransfer.MaxBytes+1):               "longer than 4 MB",
		"Date,Amount\n" + strings.Repeat("2030-03-01,1\n", 10_001): "more than 10,000",
		"<Document><BkToCstmrStmt><Stmt><Ntry><Amt Ccy=\"EUR\">x</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2030-03-01</Dt></BookgDt></Ntry></Stmt></BkToCstmrStmt></Document>": "Entry 1: its amount",
		"<Document><BkToCstmrStmt><Stmt><Ntry><Amt Ccy=\"EUR\">1</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts></Ntry></Stmt></BkToCstmrStmt></Document>":                                       "Entry 1: it has no booking date",
		"<!DOCTYPE x [<!ENTITY a \"b\">]><Document>&a;</Document>": "damaged",
	} {
		var wrong *banktransfer.FileError
		if _, err := banktransfer.Read([]byte(content), "EUR"); !errors.As(err, &wrong) || !strings.Contains(wrong.Error(), want) {
			t.Errorf("%.60q: %v, want %q", content, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("Date,Amount\n2030-03-01,-1.234,50\n"))
	f.Add(file(f, "statement.xml"))
	f.Add(file(f, "statement.csv"))
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := banktransfer.Read(content, "EUR")
		var wrong *banktransfer.FileError
		if err != nil && !errors.As(err, &wrong) {
			t.Errorf("%v", err)
		}
		for _, e := range s.Entries {
			if err == nil && (e.Amount <= 0 || e.Key == [32]byte{}) {
				t.Errorf("an entry is %+v", e)
			}
		}
	})
}

func TestDetails_AreChecked(t *testing.T) {
	t.Parallel()
	d, err := banktransfer.Details{Holder: " Haus am  See ", IBAN: "de75 5121 0800 1245 1261 99", BIC: "soge deff"}.Check()
	if err != nil || d.IBAN != "DE75512108001245126199" || d.Holder != "Haus am See" || d.BIC != "SOGEDEFF" || d.Grouped() != "DE75 5121 0800 1245 1261 99" {
		t.Errorf("details are %+v, %v", d, err)
	}
	if none, err := (banktransfer.Details{}).Check(); err != nil || none.Known() {
		t.Errorf("no details are %+v, %v", none, err)
	}
	var m organizers.Mistakes
	_, err = banktransfer.Details{IBAN: "DE75512108001245126198", BIC: "X"}.Check()
	if !errors.As(err, &m) || m.About(t.Context(), banktransfer.FieldHolder) == "" || !strings.Contains(m.About(t.Context(), banktransfer.FieldIBAN), "check digits") || m.About(t.Context(), banktransfer.FieldBIC) == "" {
		t.Errorf("wrong details: %v", err)
	}
}

func TestTransfer_CodeIsReadByBankingApps(t *testing.T) {
	t.Parallel()
	transfer := banktransfer.Transfer{Details: banktransfer.Details{Holder: "Haus am See", IBAN: "DE75512108001245126199", BIC: "SOGEDEFF"}, Reference: "RF18 5390 0754 7034", Amount: 19000, Currency: "EUR"}
	if want := "BCD\n002\n1\nSCT\nSOGEDEFF\nHaus am See\nDE75512108001245126199\nEUR190.00\n\nRF18539007547034"; transfer.Code() != want {
		t.Errorf("the code is %q, want %q", transfer.Code(), want)
	}
	transfer.Currency = "CHF"
	if transfer.Code() != "" {
		t.Error("a code says francs")
	}
}
