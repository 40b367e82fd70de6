// Package keymap maps the popularity ranks of a law to records. A trace stores
// ranks, which take less room than the key numbers they stand for: both who
// draws them and who reads them back need the maps.
package keymap
