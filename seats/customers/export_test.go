package customers

// SQL for a look at its plans.
const (
	LatestSQL     = latestSQL
	ByEmailSQL    = byEmailSQL
	ByNameSQL     = byNameSQL
	ByLastNameSQL = byLastNameSQL
	HeadSQL       = headSQL
)
