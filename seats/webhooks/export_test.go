package webhooks

// For tests.
var (
	Sign   = sign
	Public = public
	Later  = later
	Idle   = idleFor
)

// Header is the headers of a message that is sent.
var Header = header
