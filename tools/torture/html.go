package main

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/usherbox/usher/cmd/usher/rush"
)

// Known names every fault, for a usage.
func Known() string { return strings.Join(FaultNames(), ", ") }

var page = template.Must(template.New("report").Funcs(template.FuncMap{"n": count, "ms": milliseconds, "faults": func(p *Report) (list []counted) {
	for _, f := range faults {
		if n := p.ByFault[f.name]; n > 0 {
			list = append(list, counted{n, f.name, f.about})
		}
	}
	slices.SortStableFunc(list, func(a, b counted) int { return b.N - a.N })
	return list
}}).Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Torture, seed {{.Seed}}</title>
<style>
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%;margin:1rem 0}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #8884}
td:first-child{text-align:right;font-variant-numeric:tabular-nums;width:7rem}small{display:block;opacity:.75}code,pre{margin:0;font-size:.9em;overflow-wrap:anywhere;white-space:pre-wrap}
.ok{border-left:.4rem solid #2a7d4f;padding-left:.8rem}.bad{border-left:.4rem solid #b3261e;padding-left:.8rem}
</style>
<h1>A box office, broken on purpose</h1>
{{if .Failed}}<p class="bad"><strong>It did not keep its promises.</strong></p>{{else}}<p class="ok"><strong>It kept every promise.</strong></p>{{end}}
<table>
<tr><td>{{n .Operations}}<td>operations of {{.Clients}} clients at {{.Nodes}} nodes in {{.Seconds}} s
<tr><td>{{n .PerSecond}}<td>operations in a second
<tr><td>{{n .Granted}}<td>granted
<tr><td>{{n .Refused}}<td>refused, each with a reason that was true
<tr><td>{{n .Unknown}}<td>never answered
<tr><td>{{n .Retries}}<td>times somebody asked again because no answer came
<tr><td>{{n .Faults}}<td>faults
{{if .Captured}}<tr><td>{{n .News}}<td>times the bank told of a payment; each cent it took is in an order or went back
{{end}}<tr><td>{{n .LostCommit}}<td>answers to a COMMIT lost on the way
<tr><td>{{n .Stopped}}<td>writes cut off before they arrived
<tr><td>{{n .Snapshots}}<td>snapshots of the database held against every promise
<tr><td>{{n .Frames}}<td>frames seen by sockets, versions and counts checked in each
<tr><td>{{ms .Longest}}<td>was the longest anybody waited
<tr><td>{{ms .Converged}}<td>after everything was healed every map and socket was right
<tr><td>{{len .Violations}}<td>things that must not be
</table>
{{with .Figures}}<h2>How soon it was right again</h2><table>
{{range .}}<tr><td>{{ms .Worst}}<td>{{.Name}}<small>the longest of {{.Times}}; {{ms .Median}} in the middle{{if .Bar}}; {{ms .Bar}} allowed{{end}}</small>
{{end}}</table>{{end}}
{{with .Rolling}}<h2>A new version</h2><p>{{.}}.</p>{{end}}
{{with .Violations}}<h2>What must not be</h2><table>{{range .}}<tr><td>{{.Judge}}<td><pre>{{.What}}</pre>{{end}}</table>{{end}}
<h2>What was done to it</h2>
<table>{{range faults .}}<tr><td>{{n .N}}<td><strong>{{.Name}}</strong>: {{.About}}{{end}}</table>
{{with .Undone}}<h2>What could not be done to it</h2>{{range .}}<pre>{{.}}</pre>{{end}}{{end}}
{{with .Mutants}}<h2>Planted bugs</h2><table>{{range .}}<tr><td>{{if .Caught}}caught{{else}}not caught{{end}}<td>{{.Bug}}{{if .Caught}}: {{.By.Judge}}{{end}}{{end}}</table>{{end}}
<h2>The same again</h2>
<pre>{{.Command}}</pre>
`))

func count(x any) string {
	switch x := x.(type) {
	case int:
		return rush.Thousands(x)
	case int64:
		return rush.Thousands(int(x))
	case float64:
		return rush.Thousands(int(math.Round(x)))
	}
	return fmt.Sprint(x)
}

func milliseconds(x float64) string { return rush.Thousands(int(math.Round(x))) + " ms" }

type counted struct {
	N           int
	Name, About string
}

// HTML writes the report as a page.
func (p *Report) HTML(w io.Writer) error { return page.Execute(w, p) }
