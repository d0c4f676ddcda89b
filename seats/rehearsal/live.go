package rehearsal

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/waitingroom"
)

// Live is the sale of a shadow at one moment, as the live desk shows a sale.
type Live struct {
	Faster float64    `json:"faster"` // the sale is so many times slower
	Sale   sales.Live `json:"sale"`   // figures only
	Map    []byte     `json:"map"`    // the state of each seat, as in map.bin of the event
	Room   *LiveRoom  `json:"room"`   // nil: there is no waiting room
}

// LiveRoom is the waiting room of a shadow.
type LiveRoom struct {
	Phase   waitingroom.Phase `json:"phase"`
	Lobby   int64             `json:"lobby"`   // places
	Line    int64             `json:"line"`    // places after them
	Serving int64             `json:"serving"` // numbers up to here were called
	Slots   int               `json:"slots"`
	Rate    float64           `json:"rate"`  // numbers a second at most; 0: no limit
	Show    float64           `json:"show"`  // share of those called who come; 0: it is not known
	Said    int               `json:"said"`  // promised times that are decided
	Right   int               `json:"right"` // of them, those that held
}

// View reads how the sale of a shadow stands.
type View struct {
	Address string // of the shadow
	Event   string // slug
	Faster  float64
	Dial    func(ctx context.Context) (*pgx.Conn, error) // connects to the database of the shadow

	conn    *pgx.Conn
	evening sales.Evening
}

// mostMap is how large a map may be: an event has at most some hundred thousand seats, four to a byte.
const mostMap = 1 << 20

// Look returns the sale at this moment. One caller at a time.
func (v *View) Look(ctx context.Context) (*Live, error) {
	if v.conn == nil || v.conn.IsClosed() { // a look that took too long closed it
		var err error
		if v.conn, err = v.Dial(ctx); err != nil {
			return nil, fmt.Errorf("rehearsal: look at the sale: %w", err)
		}
	}
	e, err := seats.EventBySlug(ctx, v.conn, v.Event)
	if err != nil {
		return nil, err
	}
	l := &Live{Faster: v.Faster}
	if l.Sale, err = v.evening.Look(ctx, v.conn, e); err != nil {
		return nil, err
	}
	l.Sale.Latest, l.Sale.Acts, l.Sale.Alerts, l.Sale.Seen = nil, nil, nil, nil
	if l.Room, err = lookAtRoom(ctx, v.conn, e.ID); err != nil {
		return nil, err
	}
	l.Map, err = v.seats(ctx)
	return l, err
}

// Close ends the connection to the shadow.
func (v *View) Close() {
	if v.conn != nil {
		_ = v.conn.Close(context.Background()) // the shadow ends
	}
}

const liveRoomSQL = `
SELECT r.phase, r.lobby, r.line, r.serving, r.slots, coalesce(r.rate, 0)::float8, coalesce((r.pace->>'show')::float8, 0)
  FROM room r JOIN event e ON e.room_id = r.id WHERE e.id = $1`

func lookAtRoom(ctx context.Context, shadow *pgx.Conn, event int64) (*LiveRoom, error) {
	rows, _ := shadow.Query(ctx, liveRoomSQL, event) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r LiveRoom, err error) {
		return r, row.Scan(&r.Phase, &r.Lobby, &r.Line, &r.Serving, &r.Slots, &r.Rate, &r.Show)
	})
	if err != nil {
		return nil, fmt.Errorf("rehearsal: look at the waiting room: %w", err)
	}
	if len(list) == 0 {
		return nil, nil
	}
	told, err := ReadPromises(ctx, shadow)
	if err != nil {
		return nil, err
	}
	list[0].Said, list[0].Right = told.Promised, told.Kept
	return &list[0], nil
}

// seats asks the shadow for the state of each seat, as pages do.
func (v *View) seats(ctx context.Context) ([]byte, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, v.Address+"/events/"+v.Event+"/map.bin", nil)
	if err != nil {
		return nil, err
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, fmt.Errorf("rehearsal: ask for the map: %w", err)
	}
	defer func() { _ = a.Body.Close() }() // it was read
	m, err := io.ReadAll(http.MaxBytesReader(nil, a.Body, mostMap))
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", a.StatusCode)
	}
	if err != nil {
		return nil, fmt.Errorf("rehearsal: ask for the map: %w", err)
	}
	return m, nil
}
