package handlers

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/handlers/web"
	views "github.com/usherbox/usher/views/shop"
)

// unfilled returns the path of a field that a test left out; empty if there is none.
func unfilled(at string, v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		return unfilled(at, v.Elem())
	case reflect.Slice:
		if v.Len() > 0 {
			return unfilled(at+"[0]", v.Index(0))
		}
	case reflect.Struct:
		if _, is := v.Interface().(time.Time); is {
			break
		}
		for i := range v.NumField() {
			if found := unfilled(at+"."+v.Type().Field(i).Name, v.Field(i)); found != "" {
				return found
			}
		}
		return ""
	}
	if v.IsZero() {
		return at
	}
	return ""
}

// Answers that write themselves have all fields, and say what encoding/json would.
func TestAppendJSON_SaysWhatEncodingJSONWould(t *testing.T) {
	t.Parallel()
	at := time.Date(2027, 3, 4, 19, 30, 5, 120_000_000, time.UTC)
	type appender interface{ AppendJSON([]byte) []byte }
	full := []appender{
		&shop.HoldAnswer{Hold: shop.HoldBody{
			ID: "id", ExpiresAt: at, Now: at.Add(-time.Minute), Seats: []string{"S/A/1", "S/\"Ö\"/2\n"}, Idx: []int{1, 22}, ExtensionsLeft: 2, Expired: true, Total: 4200, Fee: 20, Discount: 300,
			Parts: []views.Part{{Label: "Fees", Amount: -20, Text: "0.20 €"}}, Currency: "EUR", Lines: []shop.LineBody{
				{Seat: "S/A/1", Idx: 1, Type: "child", Category: "stalls", Price: 2100, Phase: "<early> & \\late", Choices: []views.Choice{{Key: "child", Name: "Child", Price: 2100, Text: "21 €"}}},
				{Seat: "S/B/2", Idx: 22, Type: "adult", Category: "circle", Price: 2400},
			},
		}},
		&web.ErrorAnswer{Error: web.ErrorBody{
			Code: "taken", Message: "Sorry, “Stalls”, row \"C\", was just taken.", Seats: []string{"S/C/1", "S/C/2"}, Nearest: []string{"S/D/1"}, Event: "seagull", Fields: map[string]string{"email": "Is <none>."}, To: "/rooms/seagull", Request: "abc",
		}},
	}
	empty := []appender{
		&shop.HoldAnswer{Hold: shop.HoldBody{Seats: []string{}, Idx: []int{}, Parts: []views.Part{}, Lines: []shop.LineBody{}}}, &web.ErrorAnswer{Error: web.ErrorBody{Seats: []string{}, Nearest: []string{}}},
	}
	for _, answer := range full {
		if field := unfilled(reflect.TypeOf(answer).String(), reflect.ValueOf(answer)); field != "" {
			t.Errorf("%s is not in this test", field)
		}
	}
	for _, answer := range append(full, empty...) {
		written, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		text := answer.AppendJSON([]byte("x"))
		if err := json.Unmarshal(written, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text[1:], &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !reflect.DeepEqual(got, want) || text[0] != 'x' || text[len(text)-1] != '\n' {
			t.Errorf("got  %s\nwant %s", text, written)
		}
	}
}
