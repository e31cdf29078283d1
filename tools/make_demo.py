#!/usr/bin/env python3
"""Makes the demo's stream out of a real capture: its records, out of order and some of them twice.

    make_demo.py test/testdata/captures/basic.ndjson test/testdata/demo/events.ndjson

Two tables of the capture: `item` (complete images) and `toast_d` (an unchanged TOAST column, a key
change). What must keep its order keeps it: the snapshot and the transaction behind it come first, a
null-value record follows its delete, the halves of a key change and all records of `toast_d` of one
key stay in sequence. Everything else is shuffled with a fixed seed.
"""

import json
import random
import sys

TABLES = {"basic.public.item": 33, "basic.public.toast_d": 99}  # offsets below these
SEED = 7
REPEATS = 9


def is_streamed(record):
    if record["value"] is None:
        return False
    source = record["value"]["source"]
    return source["snapshot"] == "false" and "[null" not in source["sequence"]


def blocks_of(records):
    """Cuts records into runs that stay together: a delete, its null value, its key change."""
    blocks = []
    for record in records:
        headers = {name for name, _ in record.get("headers", [])}
        joined = record["value"] is None or "__debezium.oldkey" in headers
        if joined and blocks:
            blocks[-1].append(record)
        else:
            blocks.append([record])
    return blocks


def chain_of(block):
    """Blocks of one chain keep their order: unavailable columns, keys of a key change."""
    first = block[0]
    if first["topic"].endswith("toast_d"):
        return "toast_d"
    return "item/4" if json.dumps(first["key"]) in ('{"id": 4}', '{"id": 100}') else None


def main():
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    records = [r for r in records if r["offset"] < TABLES.get(r["topic"], 0)]
    for record in records:
        record["headers"] = [
            h for h in record.get("headers", []) if not h[0].startswith("__debezium.context")
        ]
        record.pop("timestamp", None)
    begin = [r for r in records if r["value"] is not None and not is_streamed(r)]
    blocks = blocks_of([r for r in records if r["value"] is None or is_streamed(r)])

    rng = random.Random(SEED)
    order = list(range(len(blocks)))
    rng.shuffle(order)
    chains = {}
    for index in range(len(blocks)):
        chains.setdefault(chain_of(blocks[index]), []).append(index)
    waiting = {chain: iter(indexes) for chain, indexes in chains.items() if chain}
    shuffled = []
    for index in order:
        chain = chain_of(blocks[index])
        shuffled.append(blocks[next(waiting[chain])] if chain else blocks[index])
    delivered = begin + [record for block in shuffled for record in block]
    repeats = rng.sample([r for r in delivered if r["value"] is not None], REPEATS)
    with open(target, "w", encoding="utf-8") as out:
        for record in delivered + repeats:
            out.write(json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n")
    print(f"{len(delivered)} records of {len(TABLES)} tables, then {REPEATS} of them again")


if __name__ == "__main__":
    main()
