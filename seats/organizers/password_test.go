package organizers_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/organizers"
)

func TestPassword_CommonOnesAndOurOwnWordsAreRefused(t *testing.T) {
	t.Parallel()
	for _, password := range strings.Fields(`Summer2025!! iloveyouiloveyou admin1234567 adminadmin12 usherusher12 boxofficebox basketball12 mustang12345 jordan232323
		trustno11111 samsung12345 internet1234 chocolate123 abcd1234abcd 123456qwerty 987654321000 a123456789012 P@ssw0rd1234 box-office-2026 theatretickets seagullplayers1 ann.oersted2026`) {
		if organizers.WrongPassword(password, "Ann Oersted", "ann@example.org", "Seagull Players") == "" {
			t.Errorf("%s is taken", password)
		}
	}
	for _, password := range []string{"three plain words", "four other plain words", "some other words", "correct horse battery staple", "x7$Kq9!mZp2w", "847205913624", "ëgaré fünf Wörter hier", "violet hammer quiet"} {
		if wrong := organizers.WrongPassword(password, "Ann Oersted", "ann@example.org", "Seagull Players"); wrong != "" {
			t.Errorf("%s: %s", password, wrong)
		}
	}
}

// The list has fewer than 3,000 passwords of twelve characters, so those that people make of shorter ones are refused, too.
func TestPassword_ThreeThousandMadeOfCommonOnesAreRefused(t *testing.T) {
	t.Parallel()
	file, err := os.Open("common.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	refused := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		for _, end := range []string{"", "123", "1234", "2026", "2026!", "!!", lines.Text()} {
			password := lines.Text() + end
			if len(password) < 12 || len(password) > 40 {
				continue
			}
			if refused++; organizers.WrongPassword(password, "", "") == "" {
				t.Fatalf("%s is taken", password)
			}
		}
	}
	if refused < 3000 {
		t.Errorf("%d passwords were tried", refused)
	}
}
