"""What the library uses inside: compiled loops, parallel ranges, atomic files, progress, memory, settings."""
