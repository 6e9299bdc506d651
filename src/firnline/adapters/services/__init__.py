"""The local stack: real servers on loopback, from installed packages. Nothing here is used by a lakehouse elsewhere."""
