package rush

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
)

// desks are live desks that organizers have open while the crowd comes.
type desks struct {
	stop context.CancelFunc
	all  sync.WaitGroup
	news atomic.Int64 // that were told to all of them
	size atomic.Int64 // bytes of it
	cut  atomic.Int64 // feeds that ended before the crowd was gone
}

var setupLink = regexp.MustCompile(`http://\S+/desk/setup/\S+`)

// SetupLink returns the link by which the first organizer of the server signs up.
func (s *Server) SetupLink(ctx context.Context) (string, error) {
	out, err := s.ask(ctx, "organizer", "link", "--url", s.URL)
	if err != nil {
		return "", err
	}
	if link := setupLink.FindString(out); link != "" {
		return link, nil
	}
	return "", fmt.Errorf("rush: no set-up link in %q", out)
}

// organize signs the first organizer up and returns a browser of theirs.
func organize(ctx context.Context, link string) (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	form := url.Values{"name": {"Rush"}, "email": {"rush@example.org"}, "password": {"a crowd that comes to buy"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, link, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	a, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.Body.Close() }() // nothing in it is wanted
	if a.StatusCode != http.StatusSeeOther {
		return nil, fmt.Errorf("rush: signing up at the desk is answered with status %d", a.StatusCode)
	}
	return client, nil
}

// openDesks opens the desks of the event, all before the crowd comes.
func openDesks(ctx context.Context, c *Crowd) (*desks, error) {
	d := &desks{}
	ctx, d.stop = context.WithCancel(ctx)
	if c.Desks == 0 {
		return d, nil
	}
	client, err := organize(ctx, c.Setup)
	if err != nil {
		d.close()
		return nil, err
	}
	for range c.Desks {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+"/desk/events/"+c.Event+"/live", nil)
		if err == nil {
			r.Header.Set("Accept", "text/event-stream")
			err = d.open(ctx, client, r)
		}
		if err != nil {
			d.close()
			return nil, err
		}
	}
	return d, nil
}

func (d *desks) open(ctx context.Context, client *http.Client, r *http.Request) error {
	a, err := client.Do(r)
	if err != nil {
		return err
	}
	if a.StatusCode != http.StatusOK {
		_ = a.Body.Close() // it is of no use
		return fmt.Errorf("rush: a live desk answers with status %d", a.StatusCode)
	}
	d.all.Go(func() {
		defer func() { _ = a.Body.Close() }() // it was read to its end
		lines := bufio.NewReaderSize(a.Body, 64<<10)
		for {
			line, err := lines.ReadSlice('\n')
			d.size.Add(int64(len(line)))
			if strings.HasPrefix(string(line[:min(len(line), 6)]), "data: ") {
				d.news.Add(1)
			}
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				if ctx.Err() == nil {
					d.cut.Add(1)
				}
				return
			}
		}
	})
	return nil
}

func (d *desks) close() {
	d.stop()
	d.all.Wait()
}

// end closes the desks.
func (d *desks) end(r *run) {
	d.close()
	if n := d.cut.Load(); n > 0 {
		r.errors.Add(n)
		r.books.note("%d live desks of %d were cut while people came", n, r.crowd.Desks)
	}
}

// tell adds to a report what so many desks were told.
func (d *desks) tell(p *Report, n int) *Report {
	p.Desks, p.DeskNews, p.DeskMB = n, d.news.Load(), float64(d.size.Load())/(1<<20)
	return p
}
