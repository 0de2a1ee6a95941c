"""What the library uses inside: compiled loops, parallel ranges, atomic files, progress, signals, memory, settings."""
