"""The application: from options to a prepared evaluation, a run, its reports and its decision. It knows no click."""
