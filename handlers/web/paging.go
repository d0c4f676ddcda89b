package web

import (
	"net/http"
	"strconv"

	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/text"
)

var errLimit = NewProblem(http.StatusUnprocessableEntity, "invalid", text.Mark("limit is a number from 1 to 500."), "", text.Mark("Change it, or leave it out."))

// ErrCursor is the answer to a cursor of another list, or of none.
var ErrCursor = NewProblem(http.StatusUnprocessableEntity, "invalid", text.Mark("cursor is not the next_cursor of an answer of this list."), "", text.Mark("Leave it out to begin with the first page."))

// Page reads which part of a list is asked for: limit, without which it has so many lines as usual, and cursor.
func Page(r *http.Request, list string, usual int) (p paging.Page, err error) {
	q := r.URL.Query()
	p.Limit = usual
	if limit := q.Get("limit"); limit != "" {
		if p.Limit, err = strconv.Atoi(limit); err != nil || p.Limit < 1 || p.Limit > paging.Most {
			return p, errLimit
		}
	}
	if cursor := q.Get("cursor"); cursor != "" {
		var ok bool
		if p.After, ok = paging.Read(list, cursor); !ok {
			return p, ErrCursor
		}
	}
	return p, nil
}
