"""Node ids: columns of them, their hash table, their numbering."""
