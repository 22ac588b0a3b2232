"""What commands that choose among skills have in common. Nothing is imported here: each takes the modules it needs."""
