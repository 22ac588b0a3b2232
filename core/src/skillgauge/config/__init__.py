"""Where values come from, who said them, and whose word counts. It knows no click and evaluates nothing."""
