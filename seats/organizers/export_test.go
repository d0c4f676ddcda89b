package organizers

// AsSQL is for tests of what a transaction leaves behind.
const AsSQL = asSQL

// For tests of how tries to sign in are slowed down.
var (
	AttemptKey  = attemptKey
	Paced       = (*Desk).paced
	ForgetTries = forgetTriesSQL
	TakeBack    = takeBackSQL
)

// WrongPassword is for tests of what a password may be.
var WrongPassword = wrongPassword

// For tests of the codes of apps.
var (
	TOTPDigits = totpDigits
	TOTPStep   = totpStep
)
