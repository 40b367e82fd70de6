package output

import (
	"os"

	"golang.org/x/term"
)

// Terminal reports whether w is a terminal, and its width in characters, 0 if
// it does not tell.
func Terminal(w any) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	return width, true
}
