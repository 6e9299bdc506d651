"""Judging: what facts and policy say of a table, as findings. Pure: no clock, environment, network or randomness.

`values` is what goes in and comes out; `policy` resolves the layers; each file of `rules` is one rule, listed in
`rulebook`; `judging` holds them against a subject, ranks what they find and cuts it at a budget; `cost` puts everything
into one currency.
"""
