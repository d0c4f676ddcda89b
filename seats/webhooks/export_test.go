package webhooks

// For tests.
var (
	SetHeader = setHeader
	Public    = public
	Later     = later
	Idle      = idleFor
)
