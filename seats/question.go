package seats

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
)

// Kinds of questions.
const (
	AskText     = "text"
	AskChoice   = "choice"
	AskCheckbox = "checkbox"
)

// Question is what an organizer asks everybody who orders.
type Question struct {
	Kind     string   `json:"kind"`
	Label    string   `json:"label"`
	Required bool     `json:"required"` // of a checkbox: it has to be marked
	Choices  []string `json:"choices"`  // of a choice
}

const (
	mostQuestions = 20
	mostLabel     = 200 // characters
)

// ReadQuestion reads a question as organizers write it: a kind, with ! if it must be answered, and what is asked;
// for a choice, a colon and what there is to choose: "text! Company", "choice Menu: fish | vegetarian", "checkbox
// News by mail".
func ReadQuestion(text string) (Question, error) {
	kind, label, _ := strings.Cut(strings.TrimSpace(text), " ")
	q := Question{Label: strings.TrimSpace(label), Choices: []string{}}
	q.Kind, q.Required = strings.CutSuffix(kind, "!")
	if q.Kind == AskChoice {
		label, choices, _ := strings.Cut(q.Label, ":")
		q.Label = strings.TrimSpace(label)
		for _, c := range strings.Split(choices, "|") {
			if c = strings.TrimSpace(c); c != "" {
				q.Choices = append(q.Choices, c)
			}
		}
	}
	switch {
	case q.Kind != AskText && q.Kind != AskChoice && q.Kind != AskCheckbox:
		return q, &Nonsense{Message: fmt.Sprintf("%q begins with none of text, choice and checkbox.", text)}
	case q.Label == "" || len([]rune(q.Label)) > mostLabel || strings.ContainsFunc(text, unicode.IsControl):
		return q, &Nonsense{Message: fmt.Sprintf("%q asks nothing, or more than %d characters.", text, mostLabel)}
	case q.Kind == AskChoice && len(q.Choices) < 2:
		return q, &Nonsense{Message: fmt.Sprintf("%q leaves no choice: write \"choice Menu: fish | vegetarian\".", text)}
	}
	return q, nil
}

// String writes a question as ReadQuestion reads it.
func (q Question) String() string {
	kind := q.Kind
	if q.Required {
		kind += "!"
	}
	text := kind + " " + q.Label
	if len(q.Choices) > 0 {
		text += ": " + strings.Join(q.Choices, " | ")
	}
	return text
}

const saveQuestionSQL = `
INSERT INTO question (event_id, number, kind, label, required, choices) VALUES ($1, $2, $3, $4, $5, $6)`

func saveQuestions(ctx context.Context, tx pgx.Tx, event int64, questions []Question) error {
	if len(questions) > mostQuestions {
		return &Nonsense{Message: fmt.Sprintf("An event asks at most %d questions.", mostQuestions)}
	}
	for i, q := range questions {
		if _, err := tx.Exec(ctx, saveQuestionSQL, event, i+1, q.Kind, q.Label, q.Required, q.Choices); err != nil {
			return err
		}
	}
	return nil
}
