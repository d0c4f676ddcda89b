package seats

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
)

// unfitCodes are the errors of PostgreSQL that are about a value which somebody sent: text that is none, a zero in
// text or in JSON, a number out of range, a time that there is not.
var unfitCodes = []string{"22021", "22P05", "22003", "22008", "22007"}

// Unfit tells whether the database would not take a value because of what it is. Nothing was changed then.
func Unfit(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(unfitCodes, pg.Code)
}
