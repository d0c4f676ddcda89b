package desk

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type importedAnswer struct {
	Added    int  `json:"added"`
	Changed  int  `json:"changed"`
	Same     int  `json:"unchanged"`
	Withheld int  `json:"consents_withheld"`
	Repeated bool `json:"repeated"`
}

// ImportCustomers answers POST /desk/customers/imports: a list as a file or as a text.
func (h *Handlers) ImportCustomers(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, typed, err := customerList(r)
	if err != nil {
		return err
	}
	var done customers.Imported
	list, err := customers.Read(typed)
	if err == nil {
		done, err = h.Server.Customers.Import(r.Context(), h.Organizers, m, deskKeyOf(r, form), list)
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showCustomers(w, r, m, deskStatus(err), desk.CustomersPage{Form: form, Wrong: words})
	}
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, importedAnswer(done))
	}
	return h.showCustomers(w, r, m, http.StatusOK, desk.CustomersPage{Imported: &done})
}

// customerList reads a list from a form: from its file, if it has one, or from the field customers.
func customerList(r *http.Request) (form url.Values, list string, err error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		form, err = deskForm(r)
		return form, strings.Join(form["customers"], "\n"), err
	}
	defer web.RemoveFiles(r)
	if err := r.ParseMultipartForm(web.BodyLimit); err != nil {
		return nil, "", web.TooLargeOr(err, text.Mark("The form cannot be read: its file is broken or too large."))
	}
	if form, err = deskForm(r); err != nil {
		return nil, "", err
	}
	list = form.Get("customers")
	if files := r.MultipartForm.File["file"]; len(files) > 0 && files[0].Size > 0 {
		in, err := files[0].Open()
		if err != nil {
			return nil, "", err
		}
		content, err := io.ReadAll(in)
		if err = errors.Join(err, in.Close()); err != nil {
			return nil, "", err
		}
		if !utf8.Valid(content) {
			content, _ = charmap.Windows1252.NewDecoder().Bytes(content) // every byte is a character there
		}
		list = string(content)
	}
	return form, list, nil
}

type duplicatesBody struct {
	Why       customers.Why  `json:"why"`
	Customers []customerBody `json:"customers"`
}

type duplicatesAnswer struct {
	Duplicates []duplicatesBody `json:"duplicates"`
	More       bool             `json:"more"`
}

// DuplicateCustomers answers GET /desk/customers/duplicates
func (h *Handlers) DuplicateCustomers(w http.ResponseWriter, r *http.Request, m organizers.Member) (err error) {
	var p desk.DuplicatesPage
	if p.List, p.More, err = h.Server.Customers.Duplicates(r.Context(), m); err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		p.Frame = h.frame(w, r, m, text.T(r.Context(), "Possible duplicates"))
		p.Path = desk.CustomersPath
		return web.WritePage(w, r, http.StatusOK, desk.Duplicates(p))
	}
	answer := duplicatesAnswer{[]duplicatesBody{}, p.More}
	for _, g := range p.List {
		body := duplicatesBody{Why: g.Why}
		for _, c := range g.List {
			body.Customers = append(body.Customers, describeCustomer(c))
		}
		answer.Duplicates = append(answer.Duplicates, body)
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// MergeCustomers answers POST /desk/customers/{id}/merges: with other records, by their ids or by the email of one.
func (h *Handlers) MergeCustomers(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	id, err := seats.ParseID(r.PathValue("id"))
	if err != nil {
		return errNoCustomer
	}
	var with []seats.ID
	for _, written := range form["with"] {
		other, err := seats.ParseID(written)
		if err != nil {
			return errNoCustomer
		}
		with = append(with, other)
	}
	if email := form.Get("email"); email != "" {
		other, missing := h.Server.Customers.ByEmail(r.Context(), m, email)
		if with = append(with, other); errors.Is(missing, customers.ErrNone) {
			missing = &seats.ValidationError{Message: text.Mark("No customer of your team has the email “%s”. Nothing was changed."), Args: []any{email}}
		}
		err = missing
	}
	if err == nil {
		err = h.Server.Customers.Merge(r.Context(), h.Organizers, m, deskKeyOf(r, form), id, with)
	}
	return h.mergeDone(w, r, m, id, form, err, "merged")
}

// SeparateCustomer answers POST /desk/customers/{id}/separations: of one address.
func (h *Handlers) SeparateCustomer(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	id, err := seats.ParseID(r.PathValue("id"))
	if err != nil {
		return errNoCustomer
	}
	err = h.Server.Customers.Separate(r.Context(), h.Organizers, m, deskKeyOf(r, form), id, strings.ToLower(strings.TrimSpace(form.Get("email"))))
	return h.mergeDone(w, r, m, id, form, err, "separated")
}

// mergeDone answers a change of what addresses a record has.
func (h *Handlers) mergeDone(w http.ResponseWriter, r *http.Request, m organizers.Member, id seats.ID, form url.Values, err error, done string) error {
	if errors.Is(err, customers.ErrNone) {
		return errNoCustomer
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showRecord(w, r, m, deskStatus(err), id, desk.CustomerPage{MergeForm: form, MergeWrong: words})
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.CustomerPath(id), done)
}
