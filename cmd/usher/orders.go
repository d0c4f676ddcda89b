package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/handlers"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
)

// eventOrders lists the tickets of an event, to be read by people or by a spreadsheet.
func eventOrders(ctx context.Context, c *call) error {
	var cfg Config
	var asCSV bool
	fs := c.flags()
	fs.BoolVar(&asCSV, "csv", false, "as comma-separated values, with everything that is known")
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, 1); err != nil {
		return err
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		s, err := planOf(ctx, db, c.args[0])
		if err != nil {
			return err
		}
		if asCSV {
			return writeCSV(ctx, c.stdout, c.orders(db), s)
		}
		return c.orders(db).Lines(ctx, s.Event.Slug, func(l orders.Line) error {
			_, err := fmt.Fprintf(c.stdout, "%s  %-9s  %-30s  %s\n", l.Order, standing(l), s.Plan.Words(l.Idx), l.Name)
			return err
		})
	})
}

// planOf finds an event with its plan.
func planOf(ctx context.Context, db *pgxpool.Pool, slug string) (*seats.Sale, error) {
	s, err := seats.NewOffice(db, newLog(io.Discard, "text")).Sale(ctx, slug)
	if errors.Is(err, seats.ErrNoEvent) {
		return nil, noEvent(slug)
	}
	return s, err
}

func noEvent(slug string) error {
	return fmt.Errorf("there is no event %q; \"usher event list\" shows those there are", slug)
}

// standing is a ticket's state in a word.
func standing(l orders.Line) string {
	switch {
	case l.Revoked:
		return "cancelled"
	case l.In != nil:
		return "came"
	}
	return "valid"
}

var columns = []string{
	"order", "ordered at", "order state", "name", "email", "born", "method", "currency", "order paid", "order refunded", "order to refund",
	"seat", "category", "price", "fee", "ticket", "came at", "mail refused",
}

func writeCSV(ctx context.Context, w io.Writer, o *orders.Orders, s *seats.Sale) error {
	out := handlers.NewCSV(w)
	head := slices.Clone(columns)
	for _, q := range s.Event.Questions {
		head = append(head, q.Label)
	}
	if err := out.Line(head...); err != nil {
		return err
	}
	err := o.Lines(ctx, s.Event.Slug, func(l orders.Line) error {
		day, came := "", ""
		if l.Born != nil {
			day = l.Born.Format(time.DateOnly)
		}
		if l.In != nil {
			came = l.In.UTC().Format(time.RFC3339)
		}
		category := s.Plan.Categories[s.Plan.Seats[l.Idx].Category].Name
		row := []string{
			l.Order, l.CreatedAt.UTC().Format(time.RFC3339), l.State, l.Name, l.Email, day, l.Method, l.Currency,
			seats.Amount(l.Paid, l.Currency), seats.Amount(l.Back-l.OnItsWay, l.Currency), seats.Amount(l.OnItsWay, l.Currency),
			s.Plan.Label(l.Idx), category, seats.Amount(l.Price, l.Currency), seats.Amount(l.Fee, l.Currency), standing(l), came, l.Mail,
		}
		for i := range s.Event.Questions {
			row = append(row, l.Answers[strconv.Itoa(i+1)])
		}
		return out.Line(row...)
	})
	return errors.Join(err, out.Flush())
}

// eventDoor prints a link for those who let people in, or revokes all there are.
func eventDoor(ctx context.Context, c *call) error {
	var cfg Config
	var revoke bool
	fs := c.flags()
	fs.BoolVar(&revoke, "revoke", false, "let no link of the event open the door any more")
	settings := append(cfg.databaseSettings(), setting{"url", "USHER_URL", "public `address` of the box office", text(&cfg.URL, "http://localhost:8080")})
	if err := bind(fs, settings, c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, 1); err != nil {
		return err
	}
	slug := c.args[0]
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		if revoke {
			n, err := c.orders(db).CloseDoors(ctx, slug)
			if err == nil {
				_, err = fmt.Fprintf(c.stdout, "%d links were revoked.\n", n)
			}
			return err
		}
		secret, err := c.orders(db).OpenDoor(ctx, slug)
		if errors.Is(err, seats.ErrNoEvent) {
			return noEvent(slug)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "%s/door/%s\n\nWhoever has this link lets people in. It is not shown again; \"usher event door %s --revoke\" ends it.\n",
			strings.TrimRight(cfg.URL, "/"), secret, slug)
		return err
	})
}
