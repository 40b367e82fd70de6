package traces

// FormatVersion is the version that Writer writes and Reader reads. It is
// frozen: later ones are read besides it. FORMAT.md has the history.
const FormatVersion = 1
