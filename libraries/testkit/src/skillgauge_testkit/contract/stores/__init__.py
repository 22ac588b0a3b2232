"""The contract of stores: runs are kept, a killed process loses nothing, and keys keep runs apart."""
