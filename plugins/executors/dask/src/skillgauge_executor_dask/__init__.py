"""The executor `dask`: the trials of one run on the workers of a dask cluster."""
