"""A policy of ACME: nobody runs more trials than were approved."""
