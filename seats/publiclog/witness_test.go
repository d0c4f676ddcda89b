package publiclog_test

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/publiclog"
)

func TestParseWitnesses_TakesAKeyAndAnAddressOfEach(t *testing.T) {
	t.Parallel()
	const (
		key   = "example.org/witness+3d2b1b6f+AQECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g"
		other = "example.org/other+3d2b1b6f+AQECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g"
	)
	for list, want := range map[string]string{
		"":                                   "",
		key + " https://witness.example.org": "",
		key + " https://a.example.org, " + other + " http://127.0.0.1:7380/": "",
		key + " https://a.example.org, " + key + " https://b.example.org":    "two witnesses have the name",
		key:                                "its key and its address",
		"https://witness.example.org":      "its key and its address",
		key + " https://a.example.org,":    "its key and its address",
		"word https://witness.example.org": "the key of a witness",
		key + " ftp://witness.example.org": "is none such as",
		key + " witness.example.org":       "is none such as",
	} {
		all, err := publiclog.ParseWitnesses(list)
		if want == "" && (err != nil || len(all) != strings.Count(list, "+3d2b1b6f")) {
			t.Errorf("%q: %d, %v", list, len(all), err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", list, err, want)
		}
	}
}
