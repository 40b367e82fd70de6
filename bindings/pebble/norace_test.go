//go:build !race

package pebble

const poolsDrop = false
