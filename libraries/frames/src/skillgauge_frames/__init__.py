"""Records of runs as pandas data frames and Parquet files."""

from .frames import schema_of, to_pandas, to_parquet

__all__ = ["schema_of", "to_pandas", "to_parquet"]
