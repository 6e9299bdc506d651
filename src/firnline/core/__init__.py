"""The vocabulary every other room speaks: ids, types, time, errors. Standard library only."""
