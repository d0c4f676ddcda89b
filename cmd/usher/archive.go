package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/seats"
)

// archiving looks after the archive of a private PostgreSQL: it makes backups when they are due, and notices that the WAL
// does not get there.
type archiving struct {
	archive *postgres.Archive
	pool    *pgxpool.Pool
	counts  *metrics
	log     *slog.Logger

	due  atomic.Pointer[time.Time] // when the next backup is due; nil: not known yet
	late bool                      // the WAL was late at the last look
}

const (
	backupPause   = 10 * time.Minute // after a backup that failed
	archiveLook   = 10 * time.Second
	archiveWithin = time.Minute // how long a segment may wait before the log says so
)

// backUp makes a backup each time that one is due.
func (x *archiving) backUp(ctx context.Context) error {
	for {
		list, err := x.archive.Backups(ctx)
		for err == nil {
			list, err = x.backUpOnce(ctx, list)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x.log.Error("no backup was written into the archive; it is tried again", "in", backupPause.String(), "error", err)
		now := time.Now() // where it is not known what is due, something is
		x.due.CompareAndSwap(nil, &now)
		if err := seats.Sleep(ctx, backupPause); err != nil {
			return err
		}
	}
}

// backUpOnce waits until a backup is due, makes it, and returns the backups that there are then.
func (x *archiving) backUpOnce(ctx context.Context, list []postgres.Backup) ([]postgres.Backup, error) {
	at, full, err := x.archive.Due(list, time.Local)
	if err != nil {
		return nil, err
	}
	x.tellDue(at, list)
	if err := seats.Sleep(ctx, time.Until(at)); err != nil {
		return nil, err
	}
	began := time.Now()
	if list, err = x.archive.BackUp(ctx, list, full); err != nil {
		return nil, err
	}
	x.log.Info("a backup was written into the archive", "full", full, "took", time.Since(began).Round(time.Millisecond).String())
	return list, nil
}

// tellDue says since when a backup is due. A broken one is none, though another is not tried before its time.
func (x *archiving) tellDue(at time.Time, list []postgres.Backup) {
	if n := len(list); n > 0 && list[n-1].Broken {
		at = list[n-1].Ended
		x.log.Error("the last backup in the archive is broken: pages of the database do not fit their checksums, so its disk may fail; restore takes an older backup", "backup", list[n-1].Label)
	}
	x.due.Store(&at)
}

// A finished segment waits as long as its file says ready.
const archiveLagSQL = `
SELECT coalesce(extract(epoch FROM clock_timestamp() - min(modification)), 0)::float8 FROM pg_ls_archive_statusdir() WHERE name LIKE '%.ready'`

// watch says in the log and the metrics how the archive is. The box office stays open without one.
func (x *archiving) watch(ctx context.Context) error {
	tick := time.NewTicker(archiveLook)
	defer tick.Stop()
	for {
		x.look(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (x *archiving) look(ctx context.Context) {
	if due := x.due.Load(); due != nil {
		x.counts.backupLate.Set(max(0, time.Since(*due).Seconds()))
	}
	ctx, cancel := context.WithTimeout(ctx, archiveLook)
	defer cancel()
	var lag float64
	if err := x.pool.QueryRow(ctx, archiveLagSQL).Scan(&lag); err != nil {
		return // a database that is down says so elsewhere
	}
	x.counts.archiveLag.Set(lag)
	late := lag > archiveWithin.Seconds()
	if late && !x.late {
		x.log.Error("the WAL of PostgreSQL does not get into the archive: what is sold now is lost if the data folder is; postgres.log has the reason", "for", time.Duration(lag*1e9).Round(time.Second).String())
	}
	if !late && x.late {
		x.log.Info("the archive has all of the WAL of PostgreSQL again")
	}
	x.late = late
}
