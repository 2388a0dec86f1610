"""What `import monitor` offers to a notebook: evaluate a sample, compare two, read a store.

Rule 1: the public names are those of `monitor.__all__`; the modules here may change.
Rule 2: heavy packages are imported when a function is called, so `import monitor` stays quick.
"""
