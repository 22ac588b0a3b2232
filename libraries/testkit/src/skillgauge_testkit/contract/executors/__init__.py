"""The contract of executors, and the plugins that its trials need in whichever process they run."""
