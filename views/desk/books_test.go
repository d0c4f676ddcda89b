package desk

import (
	"strconv"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/books"
)

func TestBooks_AReportOfManyLinesShowsTheFirstAndSaysSo(t *testing.T) {
	t.Parallel()
	for _, n := range []int{mostGroups, mostGroups + 1} {
		r := books.Report{Currency: "EUR"}
		for i := range n {
			r.Rows = append(r.Rows, books.Row{Key: "promoter " + strconv.Itoa(i)})
		}
		var page strings.Builder
		if err := booksOf(BooksPage{By: books.ByPromoter}, r).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		if shown, said := strings.Count(page.String(), "promoter "), strings.Contains(page.String(), "The first 500 of 501 lines are shown."); shown != mostGroups || said != (n > mostGroups) {
			t.Errorf("of %d lines %d are shown; that there are more is said: %v", n, shown, said)
		}
	}
}
