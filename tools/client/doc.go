// Package client makes clients of the API from handlers/openapi.yaml, in Go and in TypeScript, and buys tickets with each of them at
// a box office of its own: what the description says compiles, and is what the program does.
//
// make client generates them (package api, and typescript/api.ts; neither is committed) and runs the test. It is a module of its own,
// so that neither the program nor its other tools depend on the generators.
package client
