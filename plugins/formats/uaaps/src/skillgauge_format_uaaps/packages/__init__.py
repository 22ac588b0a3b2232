"""A package as it lies on disk: its manifest, its artifacts, its dependencies, and how an agent gets them."""
