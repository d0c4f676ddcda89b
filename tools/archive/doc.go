// Package archive archives the private PostgreSQL of the real program in an S3 of its own, and brings it back. It has tests only. The
// test is not beside the program's, so that the program does not depend on a server of S3.
package archive
