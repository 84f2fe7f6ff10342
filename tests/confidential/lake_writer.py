"""Tables of Delta and Iceberg written by the packages of both, in the environment that `make lake` makes; as JSON.

`lake_writer.py FOLDER [ENDPOINT]`: jobs of two versions and a third in which those of one place are deleted; with the
address of a store of objects, Parquet files and a table of Delta stand in its bucket `lake` too.
"""

import json
import os
import sys
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

JOBS = pa.table({"place": ["north", "south", "north", "east"], "wage": [1.0, 2.5, 3.0, 4.0], "w": [1.5, 2.0, 0.5, 1.0]})
KEY = {"aws_access_key_id": "key", "aws_secret_access_key": "secret", "region_name": "us-east-1"}


def written(folder: Path) -> dict[str, str | int]:
    import deltalake
    from pyiceberg.catalog.sql import SqlCatalog

    delta = folder / "delta"
    deltalake.write_deltalake(str(delta), JOBS)
    deltalake.write_deltalake(str(delta), JOBS, mode="append")
    deltalake.DeltaTable(str(delta)).delete("place = 'east'")
    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/iceberg")
    catalog.create_namespace("labour")
    iceberg = catalog.create_table("labour.jobs", schema=JOBS.schema)
    iceberg.append(JOBS)
    first = iceberg.current_snapshot().snapshot_id
    iceberg.append(JOBS)
    iceberg.delete("place = 'east'")
    return {"delta": str(delta), "iceberg": iceberg.location().removeprefix("file://"), "snapshot": first}


def stored(endpoint: str) -> None:
    import boto3
    import deltalake

    store = boto3.client("s3", endpoint_url=endpoint, **KEY)
    store.create_bucket(Bucket="lake")
    for part in range(2):
        file = BytesIO()
        pq.write_table(JOBS, file)
        store.put_object(Bucket="lake", Key=f"jobs/{part}.parquet", Body=file.getvalue())
    asked = {f"AWS_{name}": value for name, value in {"ENDPOINT_URL": endpoint, "ACCESS_KEY_ID": "key"}.items()}
    asked |= {"AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true"}
    asked |= {"AWS_S3_ALLOW_UNSAFE_RENAME": "true"}  # nobody else writes there
    for _ in range(2):
        deltalake.write_deltalake("s3://lake/delta", JOBS, mode="append", storage_options=asked)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(written(Path(sys.argv[1]))))
    for endpoint in sys.argv[2:]:
        stored(endpoint)
    sys.stdout.flush()
    os._exit(0)  # the threads of delta-rs end a process that ends by itself in an abort
