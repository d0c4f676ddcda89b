package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/books"
)

func TestBooksEmail_IsChosenAndComesWithItsFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	for _, wrong := range []string{`{"key":"x","every":"day"}`, `{"key":"y","every":"week","files":["secrets"]}`} {
		if a, body := send(t, ann, "POST", s.url+"/desk/books/email", wrong); a.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s is answered %d %s", wrong, a.StatusCode, body)
		}
	}
	s.does(t, ann, "/desk/books/email", url.Values{"every": {"month"}, "files": {"report", "journal"}})
	if _, page := s.page(t, ann, "/desk/books/email"); !strings.Contains(page, `value="month" checked`) || !strings.Contains(page, `value="report" checked`) || strings.Contains(page, `value="datev" checked`) || !strings.Contains(page, "The next email goes out on") {
		t.Error("the page does not show what was chosen")
	}
	var key string
	if err := s.db.QueryRow(t.Context(), `SELECT team_id || ':' || organizer_id FROM book_schedule`).Scan(&key); err != nil {
		t.Fatal(err)
	}
	s.does(t, ann, "/desk/books/accounts", url.Values{"digits": {"4"}, "consultant": {"1001"}, "client": {"1"}})
	for file, begins := range map[string]string{books.FileReport: `"performance"`, books.FileJournal: `"day"`, books.FileDatev: `"EXTF"`} {
		s.does(t, ann, "/desk/books/email", url.Values{"every": {"month"}, "files": {file}})
		s.exec(t, `UPDATE book_schedule SET mailed_to = (date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC' - interval '12 hours') - interval '1 month')::date - 1`) // a month is mailed at noon
		if n, err := s.config.Books.Jobs()[0].Do(t.Context(), key); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		m, parts := s.arriving(t, books.Mail)
		if subject := m.Header.Get("Subject"); !strings.Contains(subject, "Books") || !strings.Contains(parts["text/plain"], "Nothing was sold or paid in these days.") || !strings.Contains(parts["text/html"], "/desk/books?") {
			t.Errorf("the mail is %s: %s", subject, parts["text/plain"])
		}
		if got := strings.TrimPrefix(parts["text/csv"], "\ufeff"); !strings.HasPrefix(got, begins) {
			t.Errorf("%s is %q", file, got)
		}
	}
	s.does(t, ann, "/desk/books/email", url.Values{"every": {""}})
	if n := s.count(t, "book_schedule"); n != 0 {
		t.Errorf("%d schedules are left", n)
	}
}
