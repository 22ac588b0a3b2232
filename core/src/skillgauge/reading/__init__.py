"""Read JSON and YAML source files, and find the line of anything in them.

Reading is strict: one document, UTF-8, JSON values only, no key twice, bounded size and depth. What a file says
wrongly is raised as `SuiteError` with exact places. The values themselves carry no lines: most files are right, so
a place is looked up by scanning the file again when a problem about it is shown.
"""
