//go:build race

package pebble

// poolsDrop: under the race detector sync.Pool drops objects at random, and
// Pebble keeps its iterators and batches in pools.
const poolsDrop = true
