package traces

// FormatVersion is the version that Writer writes. Version 0 may still change
// and is read by the program that wrote it; FORMAT.md has the history.
const FormatVersion = 0
