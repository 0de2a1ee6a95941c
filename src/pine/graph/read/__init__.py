"""Edge tables out of csv, tsv, Parquet, frames and Arrow."""
