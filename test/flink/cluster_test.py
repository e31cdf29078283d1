#!/usr/bin/env python3
"""A standalone Flink cluster keeps a table equal to a Kafka topic while its processes are killed.

Starts a broker, a job manager and two task managers, writes Debezium events to a topic of three
partitions, and submits `Kafka -> debezium-json -> lastword` with the SQL client, the connector as
a user jar. Kills a task manager, then the job manager (the job goes on from its last checkpoint),
both with SIGKILL, and compares the table, read by pylance, with what the events say. A second job
in the same cluster loads the native library once more. Then the cluster starts anew with the
connector in lib/, and the job of docs/flink.md runs as it is printed there. Needs no network; every
port is its own.
"""
import argparse
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import lance

PARTITIONS = 3
KEYS = 4000
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/flink.md"
WAIT_SECONDS = 300


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, condition, seconds=WAIT_SECONDS):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if condition():
                return
        except OSError:
            pass  # not up yet
        time.sleep(0.5)
    raise SystemExit(f"{what}: nothing after {seconds} s")


class Processes:
    """Everything that was started, so that nothing is left."""

    def __init__(self, logs):
        self.logs = logs
        self.all = []

    def start(self, name, command, **options):
        log = open(self.logs / f"{name}.log", "ab")
        # A group of its own: Flink's scripts start helpers before they become the JVM.
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT,
                                   process_group=0, **options)
        self.all.append(process)
        return process

    def kill(self, process):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def end(self):
        for process in reversed(self.all):
            if process.poll() is None:
                self.kill(process)


class Kafka:
    def __init__(self, processes, lib, scratch):
        self.classpath = f"{lib}/*"
        self.port, controller = free_port(), free_port()
        self.processes = processes
        config = scratch / "server.properties"
        config.write_text(f"""process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{self.port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={scratch}/kafka-data
num.partitions={PARTITIONS}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
log.cleaner.dedupe.buffer.size=16777216
""")
        subprocess.run(["java", "-cp", self.classpath, "kafka.tools.StorageTool", "format", "-t",
                        "AAAAAAAAAAAAAAAAAAAAAA", "-c", str(config)],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        processes.start("kafka", ["java", "-Xmx384m", "-XX:+UseSerialGC", "-cp", self.classpath,
                                  "kafka.Kafka", str(config)])
        wait_for("Kafka", lambda: socket.create_connection(("127.0.0.1", self.port), 1).close()
                 or True)

    def producer(self):
        return self.processes.start(
            "producer",
            ["java", "-Xmx128m", "-XX:+UseSerialGC", "-cp", self.classpath,
             "org.apache.kafka.tools.ConsoleProducer", "--bootstrap-server",
             f"127.0.0.1:{self.port}", "--topic", "orders", "--reader-property", "parse.key=true",
             "--reader-property", "key.separator=|"],
            stdin=subprocess.PIPE)


class Flink:
    def __init__(self, processes, home, scratch, jars):
        self.processes, self.home, self.scratch, self.jars = processes, home, scratch, jars
        self.rest, rpc, blob = free_port(), free_port(), free_port()
        self.checkpoints = scratch / "checkpoints"
        self.conf = scratch / "conf"
        self.conf.mkdir()
        for file in (home / "conf").iterdir():
            (self.conf / file.name).write_bytes(file.read_bytes())
        opens = " ".join(f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in (
            "java.lang", "java.net", "java.io", "java.nio", "sun.nio.ch", "java.lang.reflect",
            "java.text", "java.time", "java.util", "java.util.concurrent",
            "java.util.concurrent.atomic", "java.util.concurrent.locks"))
        (self.conf / "config.yaml").write_text(f"""
env.java.opts.all: {opens}
jobmanager.rpc.address: 127.0.0.1
jobmanager.bind-host: 127.0.0.1
jobmanager.rpc.port: {rpc}
jobmanager.memory.process.size: 1024m
blob.server.port: {blob}
rest.address: 127.0.0.1
rest.port: {self.rest}
taskmanager.host: 127.0.0.1
taskmanager.bind-host: 127.0.0.1
taskmanager.memory.process.size: 1200m
taskmanager.numberOfTaskSlots: 4
heartbeat.interval: 2000
heartbeat.timeout: 30000
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 100
restart-strategy.fixed-delay.delay: 1 s
execution.checkpointing.interval: 1 s
execution.checkpointing.dir: {self.checkpoints.as_uri()}
execution.checkpointing.externalized-checkpoint-retention: RETAIN_ON_CANCELLATION
execution.checkpointing.num-retained: 3
parallelism.default: {PARTITIONS}
""")
        (scratch / "flink-log").mkdir()
        self.environment = {**os.environ, "FLINK_CONF_DIR": str(self.conf),
                            "FLINK_LOG_DIR": str(scratch / "flink-log"),
                            "FLINK_PID_DIR": str(scratch)}
        self.start_job_manager()
        self.task_managers = [self.start_task_manager() for _ in range(2)]
        self.wait_for_slots(8)

    def start(self, name, script):
        return self.processes.start(name, [str(self.home / "bin" / script), "start-foreground"],
                                    env=self.environment)

    def start_job_manager(self):
        self.job_manager = self.start("jobmanager", "jobmanager.sh")

    def start_task_manager(self):
        return self.start("taskmanager", "taskmanager.sh")

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.rest}{path}", timeout=5) as answer:
            return json.load(answer)

    def wait_for_slots(self, slots):
        wait_for(f"{slots} slots", lambda: self.get("/overview")["slots-available"] >= slots)

    def kill(self):
        for process in [self.job_manager, *self.task_managers]:
            self.processes.kill(process)

    def start_with_lib(self, jar):
        """Starts one task manager, with the connector in lib/ and no user jars."""
        lib = self.scratch / "lib"
        lib.mkdir()
        for file in [*(self.home / "lib").iterdir(), jar]:
            (lib / file.name).symlink_to(file.resolve())
        self.environment["FLINK_LIB_DIR"] = str(lib)
        self.jars = []
        self.start_job_manager()
        self.task_managers = [self.start_task_manager()]
        self.wait_for_slots(4)

    def sql(self, name, sql):
        """What the SQL client prints for a script."""
        file = self.scratch / f"{name}.sql"
        file.write_text(sql)
        command = [str(self.home / "bin" / "sql-client.sh"), "-f", str(file)]
        for jar in self.jars:
            command += ["-j", str(jar)]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True,
                              timeout=WAIT_SECONDS)
        return done.stdout + done.stderr

    def submit(self, name, sql):
        printed = self.sql(name, sql)
        found = re.search(r"Job ID: ([0-9a-f]{32})", printed)
        if not found:
            raise SystemExit(f"{name} was not submitted:\n{printed}")
        return found.group(1)

    def state(self, job):
        return self.get(f"/jobs/{job}")["state"]

    def last_checkpoint(self, job):
        complete = [c for c in (self.checkpoints / job).glob("chk-*") if (c / "_metadata").exists()]
        return max(complete, key=lambda c: int(c.name[4:]))


class Orders:
    """Random events of a table, and what they make of it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rows = {}
        self.events = 0

    def write(self, count, out):
        for _ in range(count):
            key = self.random.randrange(KEYS)
            before = self.rows.get(key)
            after = {"id": key, "name": f"n{self.events}", "qty": self.events}
            if before is not None and self.random.random() < 0.2:
                event = {"before": before, "after": None, "op": "d"}
                del self.rows[key]
            else:
                event = {"before": before, "after": after, "op": "c" if before is None else "u"}
                self.rows[key] = after
            self.events += 1
            out.write(f"{key}|{json.dumps(event)}\n".encode())
        out.flush()


def count_rows(uri):
    """None before the table's first version, which comes a while after its folder."""
    if not any(pathlib.Path(uri, "_versions").glob("*.manifest")):
        return 0
    return lance.dataset(uri).count_rows()


def table_rows(uri):
    columns = ["id", "name", "qty"]
    return {r["id"]: r for r in lance.dataset(uri).to_table(columns=columns).to_pylist()}


def job(kafka, uri, restore=""):
    setting = f"SET 'execution.state-recovery.path' = '{restore}';\n" if restore else ""
    return f"""{setting}CREATE TABLE orders (id BIGINT, name STRING, qty BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'format' = 'debezium-json',
  'properties.bootstrap.servers' = '127.0.0.1:{kafka.port}',
  'scan.startup.mode' = 'earliest-offset');
CREATE TABLE lake (id BIGINT, name STRING, qty BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'lastword', 'uri' = '{uri}');
INSERT INTO lake SELECT * FROM orders;
"""


def printed_job(folder):
    """The job of the page, with its files in `folder` instead of /tmp."""
    blocks = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return next(b for b in blocks if "INSERT INTO" in b).replace("/tmp/", f"{folder}/")


def run_from_lib(flink, jar, scratch):
    flink.kill()
    flink.start_with_lib(jar)
    for attempt in range(2):
        folder = scratch / f"printed{attempt}"
        printed = flink.sql("printed", printed_job(folder))
        counts = re.findall(r"\|\s*(\d+) \|\s*(\d+) \|", printed)
        if not counts or counts[-1] != ("50", "100000"):
            raise SystemExit(f"the job of {PAGE.name} printed:\n{printed}")
        sales = lance.dataset(str(folder / "lake/sales.lance")).to_table().to_pylist()
        assert len(sales) == 50 and sum(row["clicks"] for row in sales) == 100000
    print("in lib/, without user jars: the job of the page runs as printed, twice", flush=True)


def run(arguments, processes):
    scratch = arguments.scratch
    seed = arguments.seed if arguments.seed is not None else random.randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    kafka = Kafka(processes, arguments.kafka, scratch)
    producer = kafka.producer()
    orders = Orders(seed)
    orders.write(20000, producer.stdin)
    flink = Flink(processes, arguments.flink, scratch, arguments.jar)
    uri = str(scratch / "orders.lance")
    name = flink.submit("orders", job(kafka, uri))
    wait_for("the first commit", lambda: count_rows(uri) > 0)
    print("the first rows are there", flush=True)

    orders.write(20000, producer.stdin)
    processes.kill(flink.task_managers.pop())
    orders.write(20000, producer.stdin)
    flink.task_managers.append(flink.start_task_manager())
    wait_for("the job after a lost task manager", lambda: flink.state(name) == "RUNNING"
             and table_rows(uri) == orders.rows)
    print(f"task manager killed: {orders.events} events, {len(orders.rows)} rows, equal",
          flush=True)

    orders.write(20000, producer.stdin)
    time.sleep(2)
    flink.kill()
    orders.write(20000, producer.stdin)
    checkpoint = flink.last_checkpoint(name)
    flink.start_job_manager()
    flink.task_managers = [flink.start_task_manager() for _ in range(2)]
    flink.wait_for_slots(8)
    name = flink.submit("restored", job(kafka, uri, checkpoint.as_uri()))
    wait_for("the job restored from a checkpoint", lambda: table_rows(uri) == orders.rows)
    print(f"job manager killed: {orders.events} events, {len(orders.rows)} rows, equal",
          flush=True)

    second = str(scratch / "second.lance")
    flink.submit("second", f"""CREATE TABLE numbers (n BIGINT, PRIMARY KEY (n) NOT ENFORCED) WITH (
  'connector' = 'lastword', 'uri' = '{second}');
INSERT INTO numbers VALUES (1), (2), (3);
""")
    wait_for("the second job", lambda: count_rows(second) == 3)
    print("a second job in the same cluster: 3 rows", flush=True)
    lance.dataset(uri).validate()
    assert flink.state(name) == "RUNNING"
    run_from_lib(flink, arguments.jar[0], scratch)
    print("5 passed, 0 failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flink", type=pathlib.Path, required=True, help="FLINK_HOME")
    parser.add_argument("--kafka", type=pathlib.Path, required=True, help="the broker's jars")
    parser.add_argument("--jar", type=pathlib.Path, action="append", help="user jars of the jobs")
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    arguments.scratch = arguments.scratch.resolve()
    processes = Processes(arguments.scratch)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    try:
        run(arguments, processes)
    finally:
        processes.end()


if __name__ == "__main__":
    sys.exit(main())
