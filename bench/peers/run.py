"""Runs one peer over one file in a process of its own and prints seconds and what it left.

    run.py PEER FILE COLUMNS_JSON OUT

Imports are not timed; reading, collapsing and writing are. The sums are taken afterwards.
"""

import importlib
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

PEERS = {
    "duckdb": ("duckdb_lance", "run"),
    "pylance": ("lance_merge", "run"),
    "pylance-btree": ("lance_merge", "run_indexed"),
    "delta-rs": ("delta_merge", "run"),
}


def sums(table):
    ids, qtys = table["id"].to_numpy(), table["qty"].to_numpy()
    return {
        "rows": len(ids),
        "sum_id": int(ids.sum()),
        "sum_qty": int(qtys.sum()),
        "sum_id_qty": int((ids * qtys).sum()),
    }


def main():
    peer, path, columns, out = sys.argv[1:]
    module, function = PEERS[peer]
    module = importlib.import_module(f"peers.{module}")
    begin = time.perf_counter()
    getattr(module, function)(path, json.loads(columns), out)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, **sums(module.read(out))}), flush=True)
    os._exit(0)  # threads of a peer may end the interpreter with an abort


if __name__ == "__main__":
    main()
