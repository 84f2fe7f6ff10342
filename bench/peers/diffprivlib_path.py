"""diffprivlib's histogram of several columns, whose counts get geometric noise cut off at 0, at epsilon 1."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from diffprivlib.tools import histogramdd

data, keys, out = sys.argv[1:]
by = ["state", "occupation", "sex", "age"]
sizes = [len(pq.read_table(keys, columns=[name])[name].unique()) for name in by]
table = pq.read_table(data, columns=by, read_dictionary=by).unify_dictionaries().combine_chunks()
numbers = []
for name in by:
    column = table[name].chunk(0)
    # Codes are one letter and a number, as the histogram takes only numbers.
    numbers.append(np.array([int(code[1:]) for code in column.dictionary.to_pylist()])[column.indices.to_numpy()])
ranges = [(-0.5, size - 0.5) for size in sizes]
counts, _ = histogramdd(np.stack(numbers, axis=1), epsilon=1.0, bins=sizes, range=ranges)
pq.write_table(pa.table({"value": counts.ravel()}), out)
