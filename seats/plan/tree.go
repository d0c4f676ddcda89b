package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A JSON file of another program is a tree: sections with rows with seats, or a list of seats. Its leaves are its records: each
// object of a list that has no list of objects below it. A leaf has its own texts and numbers, and those of all it is in; a column is
// called by the keys that lead to it.

// listColumn is the column that says which list of the file a record is of, where it has several.
const listColumn = "list"

// branch is what a leaf has from above.
type branch map[string]string

type treeReader struct {
	columns []string
	known   map[string]bool
	found   []branch
	lists   []string // of each that was found
	err     error
}

// surveyJSON reads a file of an unknown format.
func surveyJSON(data []byte) (*Records, error) {
	if bytes.Count(data, []byte{','}) > mostCells {
		return nil, errTable
	}
	var root any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&root); err != nil {
		return nil, explain(data, err)
	}
	in := &treeReader{known: map[string]bool{}}
	in.walk("", root, branch{})
	switch {
	case in.err != nil:
		return nil, in.err
	case len(in.found) == 0 || len(in.columns) < 2:
		return nil, &Error{Line: 1, Reason: unknownJSON}
	}
	r := &Records{Kind: KindJSON, Columns: in.columns}
	if slices.ContainsFunc(in.lists, func(path string) bool { return path != in.lists[0] }) && !in.known[listColumn] && len(in.columns) < mostColumns {
		r.Columns = append(r.Columns, listColumn)
	}
	for i, leaf := range in.found {
		row := make([]string, len(r.Columns))
		leaf[listColumn] = cmp.Or(leaf[listColumn], in.lists[i])
		for i, c := range r.Columns {
			row[i] = leaf[c]
		}
		r.Rows = append(r.Rows, row)
	}
	return r, nil
}

// walk visits what stands under a path of keys. above is what all that is in it has.
func (in *treeReader) walk(path string, value any, above branch) {
	if in.err != nil {
		return
	}
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			if in.err != nil {
				return // what is left may be long
			}
			in.item(path, item, above)
		}
	case map[string]any:
		in.object(path, v, above)
	}
}

// item is an element of a list: a leaf, or something that has leaves.
func (in *treeReader) item(path string, value any, above branch) {
	object, is := value.(map[string]any)
	if !is {
		in.walk(path, value, above)
		return
	}
	if below := in.object(path, object, above); below != nil {
		if len(in.found) >= mostRecords || (len(in.found)+1)*len(in.columns) > mostCells {
			in.err = errTable
			return
		}
		in.found, in.lists = append(in.found, below), append(in.lists, path)
	}
}

// object reads the texts and numbers of an object and walks its lists. It returns what it has with all above, if it has no lists
// of objects: then it may be a seat.
func (in *treeReader) object(path string, object map[string]any, above branch) branch {
	own, lists := make(branch, len(above)+len(object)), map[string][]any{}
	for name, value := range above {
		own[name] = value
	}
	in.facts(path, object, own, lists)
	if in.err != nil {
		return nil
	}
	keys := make([]string, 0, len(lists))
	for key := range lists {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		in.walk(key, lists[key], own)
	}
	if len(keys) > 0 || len(object) == 0 {
		return nil
	}
	return own
}

// facts notes the texts and numbers of an object, with those of objects in it, and the lists of objects.
func (in *treeReader) facts(path string, object map[string]any, own branch, lists map[string][]any) {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if in.err != nil {
			return
		}
		if len(path)+len(key) > mostWords { // what is below has it in its own name
			in.err = &Error{Where: path, Reason: fmt.Sprintf("a name, with the names of all around it, is longer than %d bytes", mostWords)}
			return
		}
		name := strings.TrimPrefix(path+"."+key, ".")
		switch v := object[key].(type) {
		case string, json.Number, bool:
			if !in.known[name] {
				if len(in.columns) >= mostColumns { // each object has a copy of what is above it
					in.err = errTable
					return
				}
				in.known[name] = true
				in.columns = append(in.columns, name)
			}
			own[name] = strings.TrimSpace(brief(fmt.Sprint(v)))
		case map[string]any:
			in.facts(name, v, own, lists)
		case []any:
			if slices.ContainsFunc(v, func(item any) bool { _, is := item.(map[string]any); return is }) {
				lists[name] = v
			}
		}
	}
}

// isTree reports whether a JSON file is of no format that is known, so that the organizer has to map its columns.
func isTree(data []byte) bool {
	var is probe
	if json.Unmarshal(data, &is) != nil {
		if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '[' || !json.Valid(data) {
			return false
		}
		return true
	}
	return (is.Format == nil || !strings.HasPrefix(*is.Format, "usher")) && is.SubChart == nil && is.SubChartFloors == nil && !(len(is.Zones) > 0 && is.Zones[0] == '[')
}

// same reports whether a column of a tree is called by one of the names for something: by its last key, or by its last two, such as
// rows.label for "row".
func same(column, name, what string) bool {
	if strings.EqualFold(column, name) {
		return true
	}
	keys := strings.Split(strings.ToLower(column), ".")
	last := keys[len(keys)-1]
	if len(keys) < 2 {
		return false
	}
	if last == strings.ToLower(name) && last != "id" {
		return true
	}
	of := strings.TrimSuffix(keys[len(keys)-2], "s")
	return of == strings.ToLower(name) && slices.Contains([]string{"name", "label", "number", "title", "key"}, last) && what != "x" && what != "y"
}
