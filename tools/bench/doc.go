// Package bench compares claims with what people would otherwise build: make bench.
//
// Every contender runs in the same process, through the same harness, against the same durable servers, one after the
// other in each round, so that a busy machine is as busy for all of them. The figures are the medians of the rounds.
package bench
