"""diffprivlib's histogram of several columns, whose counts get geometric noise cut off at 0, at epsilon 1."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from clock import told
from diffprivlib.tools import histogramdd

BY = ["state", "occupation", "sex", "age"]


def job(data: str, keys: str, out: str) -> None:
    sizes = [len(pq.read_table(keys, columns=[name])[name].unique()) for name in BY]
    table = pq.read_table(data, columns=BY, read_dictionary=BY).unify_dictionaries().combine_chunks()
    numbers = []
    for name in BY:
        column = table[name].chunk(0)
        # Codes are one letter and a number, as the histogram takes only numbers.
        numbers.append(np.array([int(code[1:]) for code in column.dictionary.to_pylist()])[column.indices.to_numpy()])
    ranges = [(-0.5, size - 0.5) for size in sizes]
    counts, _ = histogramdd(np.stack(numbers, axis=1), epsilon=1.0, bins=sizes, range=ranges)
    pq.write_table(pa.table({"value": counts.ravel()}), out)


told(job, ("diffprivlib", "numpy"))
