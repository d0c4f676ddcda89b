package desk

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type booksEmailAnswer struct {
	Every string     `json:"every"` // month, week; empty: never
	Files []string   `json:"files"`
	Next  *time.Time `json:"next_at,omitempty"` // left out: never
}

// BooksEmail answers GET /desk/books/email
func (h *Handlers) BooksEmail(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	s, err := h.Server.Books.Schedule(r.Context(), m)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, booksEmailAnswer{s.Every, append([]string{}, s.Files...), s.Next})
	}
	p := desk.BooksEmailPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Books by email")), Schedule: s}
	p.Path = desk.BooksPath
	return web.WritePage(w, r, http.StatusOK, desk.BooksEmail(p))
}

// SetBooksEmail answers POST /desk/books/email
func (h *Handlers) SetBooksEmail(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	if err := h.Server.Books.SetSchedule(r.Context(), m, books.Schedule{Every: form.Get("every"), Files: form["files"]}, deskKeyOf(r, form)); err != nil {
		return err
	}
	return deskDone(w, r, desk.BooksEmailPath, "set")
}

// BooksFile is a CSV of a mail.
type BooksFile struct {
	Name    string
	Content []byte
}

// BooksFiles makes the files of a mail with books. Some cannot be made without account numbers, or of such days: why says so.
func BooksFiles(ctx context.Context, b *books.Books, m organizers.Member, f books.Filter, names []string, now time.Time) (files []BooksFile, why string, err error) {
	for _, name := range names {
		var out bytes.Buffer
		file := BooksFile{Name: booksFileName(f, name) + ".csv"}
		to := NewCSV(&out)
		switch name {
		case books.FileReport:
			var reports []books.Report
			if reports, err = b.Report(ctx, m, f, books.ByPerformance); err == nil {
				err = reportRows(ctx, to, books.ByPerformance, reports)
			}
		default:
			var entries []books.Entry
			var chart books.Chart
			if entries, chart, err = b.Journal(ctx, m, f); err != nil {
				break
			}
			if name == books.FileJournal {
				err = journalRows(to, entries)
				break
			}
			var content []byte
			if content, err = books.Datev(chart, f, entries, now); err == nil {
				file.Name = "EXTF_" + booksFileName(f, "") + ".csv"
				_, err = out.Write(content)
			}
		}
		if err == nil {
			err = to.end()
		}
		var missing *books.MissingAccounts
		var refused *seats.ValidationError
		switch {
		case errors.As(err, &missing):
			why = text.T(ctx, "Some files are not attached, because there is no account number for: %s. Enter the numbers on the page Accounts.", accountNames(ctx, missing))
		case errors.As(err, &refused):
			why = text.T(ctx, "The DATEV file is not attached: it needs the DATEV numbers on the page Accounts, days of one business year, and one currency.")
		case err != nil:
			return nil, "", err
		default:
			file.Content = out.Bytes()
			files = append(files, file)
		}
	}
	return files, why, nil
}
