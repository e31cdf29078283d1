package org.lastword.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.flink.api.common.JobID;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Random changelogs while everything fails: writer, prepareCommit, committer before and after it
 * applied, lost task managers, job masters that lose and regain leadership; one source subtask ends
 * half-way. The seed is printed; -Dlastword.test.seed=N repeats the changelog.
 */
class RandomFailureTest {
    private static final int STEPS = 24;
    private static final int TASK_MANAGERS = 3;

    // One slot each: whichever is lost takes running tasks with it.
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(
            new MiniClusterResourceConfiguration.Builder().setNumberTaskManagers(TASK_MANAGERS)
                    .setNumberSlotsPerTaskManager(1).withHaLeadershipControl().build());

    private static int taskManagersLost;

    @TempDir Path folder;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theTableEqualsItsChangelog(boolean scattered, @InjectMiniCluster MiniCluster cluster)
            throws Exception {
        long seed = Long.getLong("lastword.test.seed", System.nanoTime());
        RandomChangelog changelog = new RandomChangelog(STEPS, 8000, 4000, seed, scattered);
        System.out.println("seed " + seed + ", " + changelog.events() + " events");
        assertTrue(changelog.events() >= 200_000);
        FaultySink.plan(Map.of(FaultySink.Place.WRITE, 60_000, FaultySink.Place.PREPARE_COMMIT, 20,
                FaultySink.Place.BEFORE_COMMIT, 6, FaultySink.Place.AFTER_COMMIT, 5), 3);
        Script.REACHED.set(0);
        String uri = folder.resolve("random.lance").toString();
        StreamExecutionEnvironment env = Harness.environment(RandomChangelog.SUBTASKS, folder);
        env.addSource(new Script<>(changelog), InternalTypeInfo.of(TestRows.TYPE))
                .sinkTo(new FaultySink(
                        TestRows.sink(uri, scattered ? List.of("seq") : List.of())));
        JobClient job = env.executeAsync();
        for (int step = 3; step < STEPS; step += 6) {
            waitForStep(step, job);
            loseTaskManager(cluster);
            waitForStep(step + 3, job);
            loseLeadership(job.getJobID(), cluster);
        }
        job.getJobExecutionResult().get();
        for (FaultySink.Place place : FaultySink.Place.values()) {
            assertTrue(FaultySink.failures(place) > 0, place + " never failed");
        }
        var table = Harness.read(uri);
        assertTrue(table.get("version").asLong() >= 20, "version " + table.get("version"));
        assertEquals(changelog.outcome(), new TreeMap<>(Harness.mapOf(table, "k", "v")));
    }

    private static void waitForStep(int step, JobClient job) throws Exception {
        while (Script.REACHED.get() < step) {
            assertTrue(!job.getJobStatus().get().isTerminalState(), "the job ended at step "
                    + Script.REACHED.get());
            Thread.sleep(10);
        }
    }

    private static void loseTaskManager(MiniCluster cluster) throws Exception {
        cluster.terminateTaskManager(taskManagersLost++).get();
        cluster.startTaskManager();
    }

    private static void loseLeadership(JobID job, MiniCluster cluster) throws Exception {
        var leadership = cluster.getHaLeadershipControl().orElseThrow();
        leadership.revokeJobMasterLeadership(job).get();
        leadership.grantJobMasterLeadership(job).get();
    }
}
