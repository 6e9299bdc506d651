"""Tables as code: what a declaration and a catalog differ in, at what price, as one commit request per table.

Nouns of this room: `target` (where a table is to be, in its own ids: `schemas` and `layouts` assign them),
`difference` (the changes of one table: `columns` and `attributes` know their classes, `promotion` which type may become
which), `request` (changes as a REST commit request), `adopt` (a table back to a declaration), `renaming` (a
table under another name), `codec` (step bodies as JSON).
"""
