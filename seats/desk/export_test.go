package desk

// AsSQL is for tests of what a transaction leaves behind.
const AsSQL = asSQL

// WrongPassword is for tests of what a password may be.
var WrongPassword = wrongPassword
