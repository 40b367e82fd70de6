// Package bindings says what a database must be able to do to be driven by a
// trace, and how it says what else it can do.
//
// To add one: make a package bindings/NAME with NAME.go, whose doc comment says
// which calls each operation becomes; begin it with a compile-time assertion of
// the interfaces it means to satisfy; describe it by an exported Driver; call
// bindingtest.Run and checktest.Run from its test; add it to the list in
// bindings/all. Client libraries stay inside their binding's package.
//
// What was read goes to Op.Rows, if that is not nil: Row with the record's key,
// then Field for each field that the record has and that was asked for, in any
// order. The bytes may lie in the client's buffers, since they are looked at
// during the call alone; nothing has to be copied. A SCAN calls Row for each
// record, with its key as it was written; a READMODIFYWRITE gives what it read
// before it writes, and notes in Op.ReadEnded when it had that. A record that
// isn't there has no Row. All of it is finished when the operation is answered.
package bindings
