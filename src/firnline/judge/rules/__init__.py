"""One rule per file, each with its words, its look and its example. `rulebook` lists them."""
