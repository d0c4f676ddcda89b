package orders

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
)

// Yes is the answer of a marked checkbox.
const Yes = "yes"

const mostAnswer = 1000 // characters

// FieldAnswer is the field of the answer to an event's question, counted from 1.
func FieldAnswer(number int) string { return "answer-" + strconv.Itoa(number) }

// tidyAnswers keeps what was asked, without spaces around it.
func tidyAnswers(answers map[string]string, asked []seats.Question) map[string]string {
	if len(asked) == 0 {
		return nil
	}
	kept := make(map[string]string, len(asked))
	for i := range asked {
		number := strconv.Itoa(i + 1)
		if text := strings.TrimSpace(answers[number]); text != "" {
			kept[number] = text
		}
	}
	return kept
}

// wrongAnswer says what is wrong with the answer to a question, or nothing.
func wrongAnswer(q seats.Question, text string) string {
	unprintable := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }
	switch {
	case text == "" && q.Required && q.Kind == seats.AskCheckbox:
		return "Mark this: nobody gets in without."
	case text == "" && q.Required:
		return "Answer this question."
	case text == "":
		return ""
	case q.Kind == seats.AskCheckbox && text != Yes, q.Kind == seats.AskChoice && !slices.Contains(q.Choices, text):
		return "Choose one of the answers given."
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unprintable):
		return "The answer has characters that cannot be printed."
	case utf8.RuneCountInString(text) > mostAnswer:
		return fmt.Sprintf("The answer is longer than %d characters.", mostAnswer)
	}
	return ""
}
