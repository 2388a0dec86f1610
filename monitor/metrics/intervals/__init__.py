"""95 % intervals of the measures: closed forms, bootstrap, inversion."""
