"""The keys of the files of a package, as models."""
