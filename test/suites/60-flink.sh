#!/usr/bin/env bash
# Builds the Flink connector and runs its tests on a Flink cluster inside the test's JVM: the reduction matrix, replays,
# failures injected in writer, prepareCommit and committer, plans, types; tables are read back by pylance. All of it
# runs with the JVM's checks of native calls on.
# covers: the Flink connector: acceptance matrix, failures, plans, types; -Xcheck:jni
# budget: 15 minutes
set -euo pipefail

if ! command -v mvn >/dev/null || ! command -v javac >/dev/null; then
  echo "skipped: no Maven or no JDK (Debian: maven, openjdk-17-jdk-headless)"
  echo "0 passed, 0 failed"
  exit 0
fi
log="$LW_SCRATCH/maven.log"
reports=java/flink/target/surefire-reports
rm -rf "$reports"
result=0
java/flink/build.sh package -Dtest.jvm=-Xcheck:jni >"$log" 2>&1 || result=$?
sed -n 's/^\(Tests run: .*in .*\)/\1/p' "$reports"/*.txt || true
[ "$result" = 0 ] || grep -E '\[ERROR\]|Caused by' "$log" | head -n 60
# What the JVM finds in native calls goes to its output, past the tests.
if grep -hE 'in native method|FATAL ERROR' "$log" "$reports"/*.dumpstream 2>/dev/null | grep -v 'JNI local refs' | head -n 20 | grep .; then
  echo "-Xcheck:jni found something"
  result=1
fi
python3 - "$reports" "$result" <<'PY'
import glob, sys, xml.etree.ElementTree as tree
passed = failed = 0
for file in glob.glob(sys.argv[1] + "/TEST-*.xml"):
    suite = tree.parse(file).getroot()
    bad = int(suite.get("failures")) + int(suite.get("errors"))
    failed += bad
    passed += int(suite.get("tests")) - bad - int(suite.get("skipped"))
failed += int(sys.argv[2] != "0" and failed == 0)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0 or passed == 0)
PY
