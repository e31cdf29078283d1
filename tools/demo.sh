#!/usr/bin/env bash
# The demo: a real change stream, out of order and partly twice, becomes two correct tables. Called by ./dev demo.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
lastword="$root/build/release/lastword"
data="$root/test/testdata/demo"
export DEMO_DIR="$root/build/demo"
rm -rf "$DEMO_DIR"
mkdir -p "$DEMO_DIR"

say() {
  if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n' "$*"; else printf '\n%s\n' "$*"; fi
}
run() {
  printf '$ lastword'
  printf ' %s' "${@//$root\//}"
  printf '\n'
  "$lastword" "$@"
}

say "A Debezium stream of two tables: a snapshot, inserts, updates, deletes with their null-value records, a key change and
an unchanged TOAST column. It is delivered shuffled, and nine records come twice."
run apply "$data/events.ndjson" --config "$data/shop.yaml"

say "The newest state of the source, whatever the order was:"
run show "$DEMO_DIR/item.lance"
run show "$DEMO_DIR/toast_d.lance" --format json | cut -c 1-100

say "Item 3 was deleted. Its version is remembered, so an older change cannot bring it back:"
run explain "$DEMO_DIR/item.lance" 3 --version lsn:0/1DF0000

say "The whole stream once more, from its start: nothing changes."
run apply "$data/events.ndjson" --config "$data/shop.yaml" --from-start

say "Any Lance reader sees the same rows. In Python (pip install pylance):"
cat <<PYTHON
  import lance
  lance.dataset("build/demo/item.lance").to_table().to_pandas()
PYTHON
