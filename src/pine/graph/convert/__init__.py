"""Between Graph and the graph types of other libraries."""
