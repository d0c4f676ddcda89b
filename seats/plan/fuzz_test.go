package plan

import (
	"bytes"
	"reflect"
	"testing"
)

// readsOrRefuses is what every fuzz target asks: an error and no plan, or a plan that passes Check and, written,
// is read back equal.
func readsOrRefuses(t *testing.T, data []byte) {
	res, err := Read(bytes.NewReader(data))
	if err != nil {
		if res != nil {
			t.Fatal("half a plan came with an error")
		}
		return
	}
	if err := Check(res.Plan); err != nil {
		t.Fatalf("a plan was read that breaks a rule: %v", err)
	}
	var file bytes.Buffer
	if err := Write(&file, res.Plan); err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	again, err := Read(&file)
	if err != nil {
		t.Fatalf("what was written cannot be read: %v", err)
	}
	if !reflect.DeepEqual(again.Plan, res.Plan) {
		t.Fatal("what was written is read back different")
	}
}

func FuzzReadPretix(f *testing.F) {
	f.Add([]byte(smallPretix))
	f.Add([]byte(`{"zones":[{"rows":[{"seats":[{"category":"","position":{}}]}]}],"categories":[{}]}`))
	f.Fuzz(readsOrRefuses)
}

func FuzzReadSeatsio(f *testing.F) {
	f.Add([]byte(smallSeatsio))
	f.Add([]byte(smallFloors))
	f.Fuzz(readsOrRefuses)
}

func FuzzReadOwn(f *testing.F) {
	f.Add([]byte(smallOwn))
	f.Add([]byte(`{"format":"usher-plan/1","categories":[{"key":"A"}],"sections":[{"name":"S","category":"A","rows":[{"row":"1","seats":[{"number":"1","x":0,"y":0}]}]}]}`))
	f.Fuzz(readsOrRefuses)
}
