package desk

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// NewImport answers POST /desk/imports: a file that is to become a plan.
func (h *Handlers) NewImport(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	file, header, err := r.FormFile("file")
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return err
	case err != nil && web.WantsJSON(r):
		return organizers.Mistakes{{Field: "file", Message: text.Mark("Send a file: multipart/form-data with the field file.")}}
	case err != nil:
		return h.showPlans(w, r, m, http.StatusUnprocessableEntity, text.T(r.Context(), "Choose a file."))
	}
	defer file.Close()
	content := make([]byte, min(header.Size, plan.MaxBytes))
	if _, err := io.ReadFull(file, content); err != nil {
		return err
	}
	if wrong := misnamed(header.Filename, content, desk.PlanFiles); wrong != nil {
		if web.WantsJSON(r) {
			return wrong
		}
		return h.showPlans(w, r, m, http.StatusUnprocessableEntity, text.T(r.Context(), wrong.Message, wrong.Args...))
	}
	if err := readable(content); err != nil {
		if web.WantsJSON(r) {
			return err
		}
		return h.showPlans(w, r, m, http.StatusUnprocessableEntity, planError(err).Brief(r.Context()))
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	id, err := h.Organizers.KeepImport(r.Context(), m, shortened(header.Filename), file)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusCreated, map[string]string{"id": id.String()})
	}
	http.Redirect(w, r, desk.ImportsPath+"/"+id.String(), http.StatusSeeOther)
	return nil
}

// readable asks whether a file is one that can become a plan.
func readable(content []byte) (err error) {
	if plan.IsRecords(content) {
		_, err = plan.Survey(content)
		return err
	}
	_, err = plan.Open(bytes.NewReader(content))
	if err != nil {
		return plan.Refused(err)
	}
	return nil
}

// imported is a file that was kept, and the plan it becomes by a mapping.
type imported struct {
	page desk.ImportPage
	id   seats.ID
}

// readImport reads a kept file. asked is the mapping as forms send it; empty for the one that looks right.
func (h *Handlers) readImport(r *http.Request, m organizers.Member, asked url.Values) (in imported, err error) {
	if in.id, err = seats.ParseID(r.PathValue("id")); err != nil {
		return in, organizers.ErrNotYours
	}
	name, content, err := h.Organizers.Import(r.Context(), m, in.id)
	if err != nil {
		return in, err
	}
	in.page.File, in.page.Action = name, desk.ImportsPath+"/"+in.id.String()
	if !plan.IsRecords(content) {
		in.page.Opened, err = plan.Open(bytes.NewReader(content))
		return in, err
	}
	records, err := plan.Survey(content)
	if err != nil {
		return in, err
	}
	in.page.Records, in.page.Mapping = records, records.Guess(strings.TrimSuffix(name, path.Ext(name)))
	if asked.Has("name") {
		in.page.Mapping = mappingIn(asked)
	}
	if in.page.Opened, err = records.Open(in.page.Mapping); err != nil {
		in.page.Wrong = planError(err).Brief(r.Context())
	}
	return in, nil
}

func mappingIn(f url.Values) plan.Mapping {
	m := plan.Mapping{
		Name: strings.TrimSpace(f.Get("name")), Section: f.Get("section"), Row: f.Get("row"), Number: f.Get("number"), Category: f.Get("category"), X: f.Get("x"), Y: f.Get("y"), ID: f.Get("id"), Price: f.Get("price"), Flags: f.Get("flags"), Capacity: f.Get("capacity"),
	}
	m.Only, m.Value, _ = strings.Cut(strings.TrimSpace(f.Get("only")), "=")
	return m
}

// ShowImport answers GET /desk/imports/{id}: what is in the file, and what each column of it means.
func (h *Handlers) ShowImport(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	if err := web.Share(r.Context(), h.Large, plan.MaxBytes); err != nil {
		return err
	}
	defer func() {
		debug.FreeOSMemory()
		h.Large.Release(plan.MaxBytes)
	}()
	in, err := h.readImport(r, m, r.URL.Query())
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, describeImport(r.Context(), &in.page))
	}
	in.page.Frame, in.page.Key = h.frame(w, r, m, text.T(r.Context(), "Import %s", in.page.File)), rand.Text()
	in.page.Path = desk.PlansPath
	status := http.StatusOK
	if in.page.Wrong != "" {
		status = http.StatusUnprocessableEntity
	}
	return web.WritePage(w, r, status, desk.Import(in.page))
}

// importBody is a file that becomes a plan, as programs read it.
type importBody struct {
	File     string       `json:"file"`
	Kind     string       `json:"kind"`
	Columns  []string     `json:"columns"`   // of a table, a drawing or other JSON
	SeatsMay []string     `json:"seats_may"` // what its seats may be told by
	Mapping  *mappingBody `json:"mapping,omitempty"`
	Plan     *versionSize `json:"plan,omitempty"` // what it becomes with this mapping
	Repairs  []string     `json:"repairs"`
	Warnings []string     `json:"warnings"`
	Wrong    string       `json:"wrong,omitempty"` // why it becomes no plan
}

type mappingBody struct {
	Name     string `json:"name"`
	Only     string `json:"only"`
	Section  string `json:"section"`
	Row      string `json:"row"`
	Number   string `json:"number"`
	Category string `json:"category"`
	X        string `json:"x"`
	Y        string `json:"y"`
	ID       string `json:"id"`
	Flags    string `json:"flags"`
	Capacity string `json:"capacity"`
	Price    string `json:"price"`
}

type versionSize struct {
	Name     string `json:"name"`
	Seats    int    `json:"seats"`
	Sections int    `json:"sections"`

	Prices []pricedCategory `json:"prices"`
}

// pricedCategory is a category of a plan and what it costs, in hundredths.
type pricedCategory struct {
	Name  string `json:"name"`
	Price int64  `json:"price"`
}

func describeImport(ctx context.Context, p *desk.ImportPage) importBody {
	b := importBody{File: p.File, Columns: []string{}, SeatsMay: []string{}, Repairs: []string{}, Warnings: []string{}, Wrong: p.Wrong}
	if p.Records != nil {
		b.Kind, b.Columns, b.SeatsMay = p.Records.Kind, p.Records.Columns, p.SeatsMay()
		m := p.Mapping
		b.Mapping = &mappingBody{m.Name, p.Only(), m.Section, m.Row, m.Number, m.Category, m.X, m.Y, m.ID, m.Flags, m.Capacity, m.Price}
	}
	if o := p.Opened; o != nil {
		b.Kind, b.Plan = o.Format, &versionSize{o.Plan.Name, len(o.Plan.Seats), len(o.Plan.Sections), []pricedCategory{}}
		for _, c := range o.Plan.Categories {
			b.Plan.Prices = append(b.Plan.Prices, pricedCategory{c.Name, c.Price})
		}
		for _, r := range o.Repairs {
			b.Repairs = append(b.Repairs, r.In(ctx))
		}
		for _, w := range o.Warnings {
			b.Warnings = append(b.Warnings, w.In(ctx))
		}
	}
	return b
}

// TakeImport answers POST /desk/imports/{id}: the plan is as wanted.
func (h *Handlers) TakeImport(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	if err := web.Share(r.Context(), h.Large, plan.MaxBytes); err != nil {
		return err
	}
	defer func() {
		debug.FreeOSMemory()
		h.Large.Release(plan.MaxBytes)
	}()
	in, err := h.readImport(r, m, form)
	if err != nil {
		return err
	}
	if in.page.Opened == nil {
		return web.NewProblem(422, "invalid", in.page.Wrong, text.Mark("Nothing was saved."), text.Mark("Go back and choose what the columns mean."))
	}
	id, err := h.Organizers.NewPlan(r.Context(), m, deskKeyOf(r, form), "imported from "+in.page.File, in.page.Opened.Document)
	if err != nil {
		return err
	}
	return planMade(w, r, id, "")
}
