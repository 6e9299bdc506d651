"""Where the inhabitants live. Importing this registers all of them."""

from tests.zoo.houses import damage, deletes, equality, forms, history, layouts, sizes, vectors

HOUSES = (sizes, layouts, deletes, equality, vectors, history, damage, forms)
