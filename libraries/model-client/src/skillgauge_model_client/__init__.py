"""What plugins that ask a model over HTTP have in common. Nothing is imported here, so that announcing stays cheap."""
