package webhooks

// For tests.
var (
	SetHeader = setHeader
	Public    = public
	Backoff   = backoff
	Rests     = rests
)
