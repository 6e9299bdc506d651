"""History: what a table was, and how it gets back there.

Nouns of this room: `timeline` (snapshots as lines, newest first), `refs` (branches and tags made, dropped, moved
forward), `consequences` (whom a move of a ref touches, and how long there is a way back), `request` (a move as a commit
request), `codec` (step bodies as JSON).
"""
