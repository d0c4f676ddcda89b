package stripe

import (
	"encoding/json"
	"errors"
	"fmt"

	api "github.com/stripe/stripe-go/v85"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
)

// News reads a webhook. Its signature, of the body as it came, has to be right and at most five minutes old.
func (s *Stripe) News(body []byte, signature string) (orders.News, error) {
	var event api.Event
	err := errors.New("stripe: there is no secret for webhooks")
	for _, secret := range s.secrets {
		if secret == "" {
			continue
		}
		if event, err = api.ConstructEvent(body, signature, secret, api.WithIgnoreAPIVersionMismatch()); err == nil {
			break
		}
	}
	if err != nil {
		return orders.News{}, fmt.Errorf("stripe: a webhook: %w", err)
	}
	var about struct {
		Metadata struct {
			Payment string `json:"payment"`
		} `json:"metadata"`
	}
	if event.Data == nil || json.Unmarshal(event.Data.Raw, &about) != nil {
		return orders.News{}, orders.ErrNotOurs
	}
	payment, err := seats.ParseID(about.Metadata.Payment)
	if err != nil {
		return orders.News{}, orders.ErrNotOurs
	}
	return orders.News{Method: orders.Card, Event: event.ID, Payment: payment, Kind: string(event.Type)}, nil
}
