package desk

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// planError knows the errors about a team's plans; nil if err is none.
func planError(err error) *web.Problem {
	var unfit *organizers.Unfit
	var late *organizers.NotNewest
	var file *plan.Error
	switch {
	case errors.As(err, &unfit):
		return web.NewProblem(422, "invalid", "%s", text.Mark("Nothing was saved; the versions before are as they were."), text.Mark("Correct it and save it again.")).Filled(unfit)
	case errors.As(err, &late):
		return web.NewProblem(409, "version", "%s", text.Mark("Nothing was saved, and nothing of theirs was overwritten."), text.Mark("Look at their version, or save yours as the newest one.")).Filled(late)
	case errors.As(err, &file):
		return web.NewProblem(422, "invalid", text.Mark("The file was not read: %s."), text.Mark("Nothing was changed."), text.Mark("Correct the file and choose it again.")).Filled(file)
	}
	return nil
}

type planBody struct {
	ID int64 `json:"id"`
	versionBody
}

type versionBody struct {
	Version  int    `json:"version"`
	Name     string `json:"name"`
	Note     string `json:"note"`
	Seats    int    `json:"seats"`
	Sections int    `json:"sections"`
	SavedBy  string `json:"saved_by"`
	SavedAt  string `json:"saved_at"`
}

func describeVersion(v organizers.PlanVersion) versionBody {
	return versionBody{v.Version, v.Name, v.Note, v.Seats, v.Sections, v.SavedBy, v.SavedAt.UTC().Format("2006-01-02T15:04:05.000Z")}
}

// Plans answers GET /desk/plans
func (h *Handlers) Plans(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showPlans(w, r, m, http.StatusOK, "")
}

func (h *Handlers) showPlans(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, wrong string) error {
	list, err := h.Organizers.Plans(r.Context(), m)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		answer := struct {
			Plans []planBody `json:"plans"`
		}{[]planBody{}}
		for _, p := range list {
			answer.Plans = append(answer.Plans, planBody{p.ID, describeVersion(p.PlanVersion)})
		}
		return web.WriteJSON(w, status, answer)
	}
	page := desk.PlansPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Seating plans")), Plans: list, Key: rand.Text(), Wrong: wrong}
	page.Path = desk.PlansPath
	for _, s := range plan.Summaries() {
		page.Shipped = append(page.Shipped, desk.Shipped{Name: s.Name, Title: text.T(r.Context(), s.Title), Seats: s.Seats, Sections: s.Sections})
	}
	return web.WritePage(w, r, status, desk.Plans(page))
}

// EmptyPlan is what a plan begins as: a price, and nothing drawn yet.
const EmptyPlan = `{"format":"usher-plan/1","name":"","width":1000,"height":700,"categories":[{"key":"A","name":"Seat","price":0}],"sections":[]}`

// beginning is the document that a new plan begins with: one that comes with usher, or next to nothing.
func beginning(ctx context.Context, from, name string) ([]byte, error) {
	document := []byte(strings.Replace(EmptyPlan, `"Seat"`, strconv.Quote(text.T(ctx, "Seat")), 1))
	if from != "" {
		p, known := plan.NamedIn(ctx, from)
		if !known {
			return nil, web.NewProblem(422, "invalid", text.Mark("No plan of this name comes with Usher."), text.Mark("Nothing was changed."), text.Mark("Choose one of those that are listed."))
		}
		var err error
		if document, err = plan.Document(p); err != nil {
			return nil, err
		}
	}
	return plan.Renamed(document, name)
}

// NewPlan answers POST /desk/plans
func (h *Handlers) NewPlan(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	from, name := form.Get("from"), strings.TrimSpace(form.Get("name"))
	document, err := beginning(r.Context(), from, name)
	if err != nil {
		return err
	}
	note := "begun empty"
	if from != "" {
		note = "begun with " + from + ", which comes with Usher"
	}
	id, err := h.Organizers.NewPlan(r.Context(), m, deskKeyOf(r, form), note, document)
	if err != nil {
		return err
	}
	return planMade(w, r, id, "/editor")
}

// planMade leads on to a plan that was made, to its page or one below; a program is told its number.
func planMade(w http.ResponseWriter, r *http.Request, id int64, below string) error {
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusCreated, map[string]int64{"id": id})
	}
	http.Redirect(w, r, desk.PlanPath(id)+below, http.StatusSeeOther)
	return nil
}

func planID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("plan"), 10, 64)
	if err != nil || id < 1 {
		return 0, organizers.ErrNotYours
	}
	return id, nil
}

// Plan answers GET /desk/plans/{plan}
func (h *Handlers) Plan(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := planID(r)
	if err != nil {
		return err
	}
	versions, err := h.Organizers.PlanVersions(r.Context(), m, id)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		answer := struct {
			ID       int64         `json:"id"`
			Versions []versionBody `json:"versions"`
		}{ID: id}
		for _, v := range versions {
			answer.Versions = append(answer.Versions, describeVersion(v))
		}
		return web.WriteJSON(w, http.StatusOK, answer)
	}
	newest, err := h.Organizers.Plan(r.Context(), m, id, 0)
	if err != nil {
		return err
	}
	page := desk.PlanPage{Frame: h.frame(w, r, m, versions[0].Name), ID: id, Versions: versions, Plan: newest}
	page.Path = desk.PlansPath
	return web.WritePage(w, r, http.StatusOK, desk.Plan(page))
}

// PlanVersion answers GET /desk/plans/{plan}/versions/{file}: 3.json in the open format, 3.csv, 3.svg.
func (h *Handlers) PlanVersion(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := planID(r)
	number, kind, _ := strings.Cut(r.PathValue("file"), ".")
	version, bad := strconv.Atoi(number)
	if err != nil || bad != nil || version < 1 {
		return organizers.ErrNotYours
	}
	document, v, err := h.Organizers.PlanDocument(r.Context(), m, id, version)
	if err != nil {
		return err
	}
	content, mime, err := written(document, kind)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mime)
	w.Header().Set("Content-Disposition", `attachment; filename="`+events.Slug(v.Name, "plan")+"-"+number+"."+kind+`"`)
	_, _ = w.Write(content) // a reader who is gone needs no plan
	return nil
}

// written is a document as a file of some kind.
func written(document []byte, kind string) (content []byte, mime string, err error) {
	if kind == "json" {
		return plan.Indented(document), "application/json; charset=utf-8", nil
	}
	read, err := plan.Read(bytes.NewReader(document))
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	switch kind {
	case "csv":
		err, mime = plan.WriteCSV(&b, read.Plan), "text/csv; charset=utf-8"
	case "svg":
		err, mime = plan.WriteSVG(&b, read.Plan), "image/svg+xml"
	default:
		err = organizers.ErrNotYours
	}
	return b.Bytes(), mime, err
}

// Editor answers GET /desk/plans/{plan}/editor
func (h *Handlers) Editor(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := planID(r)
	if err != nil {
		return err
	}
	version, err := strconv.Atoi(r.FormValue("version"))
	if err != nil {
		version = 0
	}
	_, v, err := h.Organizers.PlanDocument(r.Context(), m, id, max(0, version))
	if err != nil {
		return err
	}
	page := desk.EditorPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Edit %s", v.Name)), ID: id, Version: v}
	page.Script, page.Style = "editor.js", "editor.css map.css"
	return web.WritePage(w, r, http.StatusOK, desk.Editor(page))
}

// SavePlan answers POST /desk/plans/{plan}/versions
func (h *Handlers) SavePlan(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	var asked struct {
		Base     int             `json:"base"` // the version it was drawn from
		Note     string          `json:"note"`
		Document json.RawMessage `json:"document"`
		Key      string          `json:"key"`
	}
	id, err := planID(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	unread := web.DecodeJSON(body, &asked)
	if unread != nil {
		asked.Document = nil // refused below, once it is known that the plan is there
	}
	version, err := h.Organizers.SavePlan(r.Context(), m, keyOf(r, asked.Key), id, asked.Base, strings.TrimSpace(asked.Note), asked.Document)
	var late *organizers.NotNewest
	if errors.As(err, &late) {
		p := planError(err)
		return web.WriteError(w, r, p.Status, web.ErrorBody{
			Code: p.Code, Message: p.In(r.Context()), Seats: []string{}, Nearest: []string{}, Fields: map[string]string{"newest": strconv.Itoa(late.Newest.Version)},
		})
	}
	var unfit *organizers.Unfit
	if unread != nil && errors.As(err, &unfit) {
		return unread
	}
	if err != nil {
		return err
	}
	w.Header().Set("Location", desk.PlanPath(id)+"/versions/"+strconv.Itoa(version)+".json")
	return web.WriteJSON(w, http.StatusCreated, map[string]int{"version": version})
}

// AddPlanPicture answers POST /desk/plans/{plan}/pictures: a picture to trace the plan from.
func (h *Handlers) AddPlanPicture(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	defer web.RemoveFiles(r)
	id, err := planID(r)
	if err != nil {
		return err
	}
	if _, err := h.Organizers.PlanVersions(r.Context(), m, id); err != nil { // before the file is read
		return err
	}
	u, f, err := upload(r)
	if err != nil {
		return err
	}
	pic, err := h.Pages.AddPlanPicture(r.Context(), m, id, u.Content, deskKeyOf(r, f))
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusCreated, struct {
		Picture string `json:"picture"`
		Width   int    `json:"width"`
		Height  int    `json:"height"`
	}{pic.Hash, pic.Width, pic.Height})
}

// PlanPicture answers GET /desk/plans/{plan}/pictures/{picture}, a JPEG.
func (h *Handlers) PlanPicture(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := planID(r)
	if err != nil {
		return err
	}
	content, err := h.Pages.PlanPicture(r.Context(), m, id, r.PathValue("picture"))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_, _ = w.Write(content) // a reader who is gone needs no picture
	return nil
}
