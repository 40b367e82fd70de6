// Package bindings says what a database must be able to do to be driven by a
// trace, and how it says what else it can do.
//
// To add one: make a package bindings/NAME with NAME.go, whose doc comment says
// which calls each operation becomes; begin it with a compile-time assertion of
// the interfaces it means to satisfy; describe it by an exported Driver; call
// bindingtest.Run from its test; add it to the list in bindings/all. Client
// libraries stay inside their binding's package.
package bindings
