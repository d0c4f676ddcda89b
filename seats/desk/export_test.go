package desk

// AsSQL is for tests of what a transaction leaves behind.
const AsSQL = asSQL
