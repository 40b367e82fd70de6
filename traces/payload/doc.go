// Package payload builds the bytes of an operation, its key and its values,
// from numbers alone: key number, field, version and seed. The generator, the
// replayer and every check use the same code, so nothing but the numbers needs
// to be stored or compared.
//
// All functions append to a caller's buffer and allocate nothing when it is
// large enough.
package payload
