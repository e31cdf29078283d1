#!/usr/bin/env bash
# Builds the connector: the native libraries from this checkout, then the jar with Maven. Arguments go to Maven;
# without any it is `package -DskipTests`. Needs a JDK 17 and Maven 3.8. Artifacts are kept in the user's cache, so
# that a second build asks no registry.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

preset="${LASTWORD_PRESET:-release}"
build="${LASTWORD_BUILD:-build/$preset}"
[ -n "${LASTWORD_BUILD:-}" ] || ./dev compile "$preset" lastword_jni

# What is not part of every Linux lies in the jar: the library, the Rust library, and what a distribution may lack.
native=build/flink-native/native/linux-amd64
mkdir -p "$native"
copy() { cmp -s "$1" "$native/$(basename "$2")" || cp -L "$1" "$native/$(basename "$2")"; }
strip --strip-unneeded -o "$native/liblastword_jni.so.new" "$build/liblastword_jni.so"
mv "$native/liblastword_jni.so.new" "$native/liblastword_jni.so"
copy build/lance/liblastword_lance.so liblastword_lance.so
ldd "$build/liblastword_jni.so" | awk '$1 !~ /^(linux-vdso|libc|libm|libstdc\+\+|libgcc_s|libdl|libpthread|librt|liblastword)/ && $3 ~ /^\// { print $1, $3 }' |
  while read -r name path; do copy "$path" "$name"; done
(cd "$native" && ls ./*.so* | sed 's#^\./##' >files.txt)

cache="${XDG_CACHE_HOME:-${HOME:-$(cd ~ && pwd)}/.cache}/lastword/m2"
[ $# -gt 0 ] || set -- package -DskipTests
cd java/flink
# Once everything was there for these goals, no registry is asked again until the POM changes.
complete="$cache/complete-$({ cat pom.xml; printf '%s\n' "$@" | grep -v '^-D'; } | sha256sum | cut -c1-12)"
offline=()
[ ! -e "$complete" ] || offline=(-o)
mvn -B -q "-Dmaven.repo.local=$cache" "${offline[@]}" "$@"
touch "$complete"
