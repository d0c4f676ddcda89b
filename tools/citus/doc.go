// Package citus tries Usher on Citus: a coordinator and two workers of its own, the schema, and every statement of the program. It has
// tests only, under the tag citus: make citus builds Citus first. docs/citus.md says what came of it.
package citus
