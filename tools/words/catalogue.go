package main

import (
	"fmt"
	"strings"

	"github.com/leonelquinteros/gotext"
)

const (
	catalogues = "seats/text/po"
	template   = "messages.pot"
)

// catalogue is a language with its translations.
type catalogue struct {
	head         string // comments before the first entry
	header       string
	messages     map[string]*gotext.Translation
	pluralForms  int
	isDraft      bool   // it may lack messages, and is not shipped (package text)
	hasDuplicate string // a message that is translated twice; empty: none is
}

// parse reads a catalogue.
func parse(content []byte) *catalogue {
	po := gotext.NewPo()
	po.Parse(content)
	c := &catalogue{messages: po.GetDomain().GetTranslations(), pluralForms: 2}
	for line := range strings.Lines(string(content)) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		c.head += line
	}
	if header := c.messages[""]; header != nil {
		c.header = header.Trs[0]
	}
	c.isDraft = po.GetDomain().Headers.Get("X-Draft") != ""
	if _, forms, found := strings.Cut(po.PluralForms, "nplurals="); found {
		_, _ = fmt.Sscanf(forms, "%d", &c.pluralForms) // 2 if it is no number
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "msgid ") {
			if seen[line] {
				c.hasDuplicate = strings.TrimSpace(line)
			}
			seen[line] = true
		}
	}
	return c
}

// render writes messages with the translations of a catalogue; nil: as a template without translations.
func render(list []*entry, c *catalogue) string {
	var b strings.Builder
	head, header, forms := "# The messages of Usher. `make words` writes this file.\n", "Content-Type: text/plain; charset=UTF-8\n", 2
	if c != nil {
		head, header, forms = c.head, c.header, c.pluralForms
	}
	b.WriteString(head + "msgid \"\"\nmsgstr \"\"\n")
	for line := range strings.Lines(header) {
		b.WriteString(quote(line) + "\n")
	}
	for _, m := range list {
		b.WriteString("\n")
		for _, note := range m.notes {
			b.WriteString("#. " + note + "\n")
		}
		for _, f := range m.files {
			b.WriteString("#: " + f + "\n")
		}
		if len(verbs(m.id)) > 0 {
			b.WriteString("#, go-format\n")
		}
		b.WriteString("msgid " + quote(m.id) + "\n")
		if m.plural == "" {
			b.WriteString("msgstr " + quote(c.said(m.id, 0)) + "\n")
			continue
		}
		b.WriteString("msgid_plural " + quote(m.plural) + "\n")
		for i := range forms {
			fmt.Fprintf(&b, "msgstr[%d] %s\n", i, quote(c.said(m.id, i)))
		}
	}
	return b.String()
}

// said is a translation; empty if there is none.
func (c *catalogue) said(id string, form int) string {
	if c == nil || c.messages[id] == nil {
		return ""
	}
	return c.messages[id].Trs[form]
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)

func quote(s string) string { return `"` + escapes.Replace(s) + `"` }

// verbs lists what arguments fill in a message, and its marks such as <b>, as they are compared with those of a translation.
// A verb without a number has the number of its place.
func verbs(message string) (list []string) {
	next := 1
	for i := 0; i < len(message); i++ {
		switch message[i] {
		case '<':
			end := strings.IndexByte(message[i:], '>')
			if end < 0 {
				return append(list, message[i:])
			}
			list = append(list, message[i:i+end+1])
			i += end
		case '%':
			end := i + 1
			for end < len(message) && strings.IndexByte("0123456789.[]+-#", message[end]) >= 0 {
				end++
			}
			if end == len(message) {
				return append(list, message[i:])
			}
			flags, verb := message[i+1:end], message[end]
			i = end
			if verb == '%' {
				continue
			}
			if open := strings.IndexByte(flags, '['); open >= 0 {
				_, _ = fmt.Sscanf(flags[open+1:], "%d", &next) // a number that is none is no verb of ours
			}
			list = append(list, fmt.Sprintf("%d%c", next, verb))
			next++
		}
	}
	return list
}
