package organizers_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
)

func document(t *testing.T, name string) []byte {
	t.Helper()
	p, _ := plan.Named(name)
	doc, err := plan.Document(p)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func (h *fixture) plan(t *testing.T, m organizers.Member, key, name string) int64 {
	t.Helper()
	id, err := h.desk.NewPlan(t.Context(), m, key, "the shipped one", document(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestEachSaveOfAPlanIsAVersionAndNothingIsOverwritten(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	first, second := document(t, "club"), bytes.Replace(document(t, "club"), []byte(`"name":"`), []byte(`"name":"Our `), 1)
	id := h.plan(t, h.ann, "k1", "club")
	if again := h.plan(t, h.ann, "k1", "club"); again != id {
		t.Errorf("the same form made plan %d after %d", again, id)
	}
	for range 2 { // the second time is a repeat
		if v, err := h.desk.SavePlan(t.Context(), h.ann, "k2", id, 1, "renamed", second); err != nil || v != 2 {
			t.Fatalf("version %d, %v", v, err)
		}
	}
	list, err := h.desk.PlanVersions(t.Context(), h.ann, id)
	if err != nil || len(list) != 2 || list[0].Version != 2 || list[0].SavedBy != "Ann" || list[0].Note != "renamed" || !strings.HasPrefix(list[0].Name, "Our ") {
		t.Fatalf("versions %+v, %v", list, err)
	}
	for version, want := range map[int][]byte{1: first, 2: second, 0: second} {
		if got, _, err := h.desk.PlanDocument(t.Context(), h.ann, id, version); err != nil || !bytes.Equal(got, want) {
			t.Errorf("version %d is another document, %v", version, err)
		}
	}
	p, err := h.desk.Plan(t.Context(), h.ann, id, 1)
	club, _ := plan.Named("club")
	if err != nil || !reflect.DeepEqual(p.Seats, club.Seats) {
		t.Errorf("events would be made of other seats, %v", err)
	}
	if _, err := h.desk.SavePlan(t.Context(), h.ann, "k2", id, 1, "renamed", first); !errors.Is(err, idempotency.ErrOtherKey) {
		t.Errorf("a used key: %v", err)
	}
	var late *organizers.NotNewest
	if _, err := h.desk.SavePlan(t.Context(), h.ann, "k3", id, 1, "", first); !errors.As(err, &late) || late.Newest.Version != 2 {
		t.Errorf("drawn from an older version: %v", err)
	}
	if v, err := h.desk.SavePlan(t.Context(), h.ann, "k4", id, 2, "", first); err != nil || v != 3 {
		t.Errorf("version %d, %v", v, err)
	}
	var entries int
	if h.scan(t, &entries, `SELECT count(*) FROM deed WHERE what = 'saved a plan' AND who = 'Ann'`); entries != 3 {
		t.Errorf("%d audit entries, want 3", entries)
	}
}

func TestAPlanIsItsTeamsAlone(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id := h.plan(t, h.ann, "k", "club")
	if _, err := h.desk.PlanVersions(t.Context(), h.bob, id); !errors.Is(err, organizers.ErrNotYours) {
		t.Errorf("its versions: %v", err)
	}
	if _, _, err := h.desk.PlanDocument(t.Context(), h.bob, id, 0); !errors.Is(err, organizers.ErrNotYours) {
		t.Errorf("its document: %v", err)
	}
	if _, err := h.desk.SavePlan(t.Context(), h.bob, "k", id, 1, "", document(t, "club")); !errors.Is(err, organizers.ErrNotYours) {
		t.Errorf("a save: %v", err)
	}
	if list, err := h.desk.Plans(t.Context(), h.bob); err != nil || len(list) != 0 {
		t.Errorf("%d plans, %v", len(list), err)
	}
	if list, err := h.desk.Plans(t.Context(), h.ann); err != nil || len(list) != 1 || list[0].ID != id {
		t.Errorf("%+v, %v", list, err)
	}
	whole := strings.Repeat("0123456789", 250_000) // it travels in parts
	file, err := h.desk.KeepImport(t.Context(), h.ann, "a.csv", strings.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.desk.Import(t.Context(), h.bob, file); !errors.Is(err, organizers.ErrNotYours) {
		t.Errorf("her file: %v", err)
	}
	if name, content, err := h.desk.Import(t.Context(), h.ann, file); err != nil || name != "a.csv" || string(content) != whole {
		t.Errorf("her file: %q of %d bytes, %v", name, len(content), err)
	}
}

func TestADocumentThatWouldHaveToBeRepairedIsNotSaved(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	doc := `{"format":"usher-plan/1","name":"P","categories":[{"key":"A","name":"A","price":0}],"sections":[{"name":"S","category":"A","rows":[{"row":"1","seats":[{"number":"1","x":0,"y":0},{"number":"1","x":20,"y":0}]}]}]}`
	var unfit *organizers.Unfit
	if _, err := h.desk.NewPlan(t.Context(), h.ann, "k", "", []byte(doc)); !errors.As(err, &unfit) || !strings.Contains(unfit.Error(), "twice") {
		t.Errorf("two seats of one label: %v", err)
	}
	if _, err := h.desk.NewPlan(t.Context(), h.ann, "k", "", []byte(`{"format":`)); !errors.As(err, &unfit) {
		t.Errorf("half a file: %v", err)
	}
	if _, err := h.desk.NewPlan(t.Context(), h.ann, "", "", document(t, "club")); !errors.Is(err, idempotency.ErrNoKey) {
		t.Errorf("no key: %v", err)
	}
}
