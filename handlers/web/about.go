package web

import (
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/views"
)

// PageBody is what the page of an event says, for programs.
type PageBody struct {
	Category   string        `json:"category,omitempty"`
	DoorsAt    *time.Time    `json:"doors_at,omitempty"`
	EndsAt     *time.Time    `json:"ends_at,omitempty"`
	Running    int           `json:"running_minutes,omitempty"`
	Intervals  int           `json:"intervals,omitempty"`
	Age        int           `json:"age,omitempty"`
	Street     string        `json:"street,omitempty"`
	PostalCode string        `json:"postal_code,omitempty"`
	Town       string        `json:"town,omitempty"`
	Country    string        `json:"country,omitempty"`
	MapLink    string        `json:"map_link,omitempty"`
	Organizer  string        `json:"organizer,omitempty"`
	Email      string        `json:"email,omitempty"`
	Phone      string        `json:"phone,omitempty"`
	Website    string        `json:"website,omitempty"`
	Texts      []TextBody    `json:"texts"`
	Pictures   []PictureBody `json:"pictures"`
}

// TextBody is a text of an event in one language, in Markdown.
type TextBody struct {
	Language    string `json:"language"`
	Subtitle    string `json:"subtitle"`
	Description string `json:"description"`
	Travel      string `json:"travel"`
	Access      string `json:"access"`
}

// PictureBody is a picture with the addresses of its files.
type PictureBody struct {
	ID      int64             `json:"id"`
	Kind    pages.PictureKind `json:"kind"`
	Section string            `json:"section,omitempty"`
	Alt     string            `json:"alt"`
	Width   int               `json:"width"`
	Height  int               `json:"height"`
	Files   []FileBody        `json:"files"`
}

// FileBody is one file of a picture.
type FileBody struct {
	Width int    `json:"width"`
	Path  string `json:"path"`
}

// DescribePage says what the page of an event says; nil if it has none.
func DescribePage(e seats.Event, p *pages.EventPage) *PageBody {
	if p == nil {
		return nil
	}
	f := p.Facts
	b := &PageBody{
		Category: f.Category, Running: int(f.Running / time.Minute), Intervals: f.Breaks, Age: f.Age, Street: f.Street, PostalCode: f.PostalCode, Town: f.Town,
		Country: f.Country, MapLink: f.MapLink, Organizer: f.Organizer, Email: f.Email, Phone: f.Phone, Website: f.Website, Texts: []TextBody{}, Pictures: []PictureBody{},
	}
	if f.Doors > 0 {
		at := e.StartsAt.Add(-f.Doors).UTC()
		b.DoorsAt = &at
	}
	if f.Running > 0 {
		at := e.StartsAt.Add(f.Running).UTC()
		b.EndsAt = &at
	}
	for _, t := range p.Texts {
		b.Texts = append(b.Texts, TextBody{t.Language, t.Subtitle, t.Description, t.Travel, t.Access})
	}
	for _, pic := range p.Pictures {
		b.Pictures = append(b.Pictures, DescribePicture(pic))
	}
	return b
}

// DescribePicture is a picture for programs.
func DescribePicture(p pages.Picture) PictureBody {
	b := PictureBody{ID: p.ID, Kind: p.Kind, Section: p.Section, Alt: p.Alt, Width: p.Width, Height: p.Height}
	for _, width := range p.Widths {
		b.Files = append(b.Files, FileBody{width, views.PicturePath(p.Hash, width)})
	}
	return b
}
