// Package keyvalue is how records lie in a store that keeps bytes under bytes,
// and nothing else: the embedded stores share it, so that their files differ in
// what the stores do, not in what they are given.
package keyvalue
