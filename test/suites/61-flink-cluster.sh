#!/usr/bin/env bash
# A standalone Flink cluster beside a Kafka broker: Kafka -> debezium-json -> lastword, task manager and job manager
# killed with -9, table read by pylance; a second job in the same cluster; the connector in lib/ and the job of the docs.
# covers: a real Flink cluster and Kafka, kill -9 of task manager and job manager, two jobs with one native library, lib/, the job of docs/flink.md
# budget: 12 minutes
set -euo pipefail

if ! command -v mvn >/dev/null || ! command -v javac >/dev/null; then
  echo "skipped: no Maven or no JDK (Debian: maven, openjdk-17-jdk-headless)"
  echo "0 passed, 0 failed"
  exit 0
fi
java/flink/build.sh package -DskipTests

# Flink's distribution out of its Python packages (no Python runs in it) and the broker's jars, in the user's cache.
cache="${XDG_CACHE_HOME:-${HOME:-$(cd ~ && pwd)}/.cache}/lastword"
version=2.3.0
home="$cache/flink-$version"
maven() { mvn -B -q "-Dmaven.repo.local=$cache/m2" "$@"; }
if [ ! -e "$home/complete" ]; then
  rm -rf "$home" "$home.new"
  mkdir -p "$home.new"
  "$LW_PYTHON" -m pip download -q --no-deps --only-binary :all: -d "$home.new/wheels" \
    "apache-flink-libraries==$version" "apache-flink==$version"
  for wheel in "$home.new"/wheels/*.whl; do
    "$LW_PYTHON" -m zipfile -e "$wheel" "$home.new/unpacked"
  done
  mv "$home.new/unpacked/pyflink"/{bin,conf,lib,opt,plugins} "$home.new/"
  maven dependency:copy "-Dartifact=org.apache.flink:flink-sql-gateway:$version" "-DoutputDirectory=$home.new/opt"
  maven dependency:copy -Dartifact=org.apache.flink:flink-sql-connector-kafka:5.0.0-2.2 "-DoutputDirectory=$home.new"
  maven -f test/flink/kafka-pom.xml dependency:copy-dependencies "-DoutputDirectory=$home.new/kafka"
  rm -rf "$home.new/wheels" "$home.new/unpacked"
  mkdir -p "$home.new/log"
  chmod +x "$home.new"/bin/*
  touch "$home.new/complete"
  mv "$home.new" "$home"
fi

"$LW_PYTHON" test/flink/cluster_test.py --flink "$home" --kafka "$home/kafka" --scratch "$LW_SCRATCH" \
  --jar java/flink/target/lastword-flink-0.1.0.jar --jar "$home"/flink-sql-connector-kafka-*.jar
