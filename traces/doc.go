// Package traces is the trace file: operations with due times, as columns in
// zstd-compressed protobuf. FORMAT.md describes the bytes and numbers what must
// hold; errors of this package cite those numbers.
//
// A [Writer] takes blocks of operations in order and writes to a file or a
// pipe. A [Reader] gives them back, from a file that it can seek in or from a
// pipe, and refuses whatever is not exactly what a Writer wrote. Neither holds
// more than one block and its index, some 70 bytes for each block.
//
// Order: operations come in the order of their phases, and of their due times
// within a paced phase. Ownership: blocks and ops belong to the caller, who
// passes them to be filled. Neither type is safe for concurrent use.
//
// The [Digest] of a trace proves which stream of operations it holds, whatever
// the blocks, columns and compression. It is promised never to change; the
// bytes of a file are not promised at all, since versions of the compressor
// differ.
package traces
