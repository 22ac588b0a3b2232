"""What is read from outside: source files, with the line of anything in them, and the process environment.

How JSON and YAML are read, and how places are found, is `skillgauge_documents`'s; here its faults become problems and
its values frozen ones.
"""
