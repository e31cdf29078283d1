package org.lastword.flink;

import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * A random, valid changelog for a source of three subtasks, the last of which ends half-way: what
 * comes of it is computed row by row while it is made. Either the changes of a key leave through
 * one subtask in their order, or (`scattered`) through any, late by up to two steps, in any order.
 */
final class RandomChangelog implements Script.Steps<RowData> {
    static final int SUBTASKS = 3;
    private static final long serialVersionUID = 1L;
    private static final int DELAY_MAX = 2;

    private final int steps;
    private final int changesPerStep;
    private final int keys;
    private final long seed;
    private final boolean scattered;

    RandomChangelog(int steps, int changesPerStep, int keys, long seed, boolean scattered) {
        this.steps = steps;
        this.changesPerStep = changesPerStep;
        this.keys = keys;
        this.seed = seed;
        this.scattered = scattered;
    }

    @Override
    public int count(int subtask) {
        return subtask == SUBTASKS - 1 ? steps / 2 : steps;
    }

    @Override
    public void emit(int step, int subtask, int subtasks, Consumer<RowData> out) {
        List<List<RowData>> mine = new ArrayList<>();
        // The whole history up to the step is made again: it depends on nothing but the seed.
        Map<Long, String> live = new TreeMap<>();
        for (int i = 0; i <= step; ++i) {
            int at = i;
            Random deal = new Random(seed * 17 + at);
            make(i, live, change -> {
                int owner = ownerOf(change.get(0).getLong(0));
                int due = at;
                if (scattered) {
                    due = Math.min(at + deal.nextInt(DELAY_MAX + 1), steps - 1);
                    owner = deal.nextInt(due < steps / 2 ? SUBTASKS : SUBTASKS - 1);
                }
                if (due == step && owner == subtask) {
                    mine.add(change);
                }
            });
        }
        if (scattered) {
            Collections.shuffle(mine, new Random(seed + step));
        }
        mine.forEach(change -> change.forEach(out));
    }

    private static int ownerOf(long key) {
        return (int) (key % SUBTASKS);
    }

    /** Makes the changes of a step: a -U and its +U are one. */
    private void make(int step, Map<Long, String> live, Consumer<List<RowData>> out) {
        Random random = new Random(seed * 31 + step);
        for (int i = 0; i < changesPerStep; ++i) {
            long key = random.nextInt(keys);
            boolean removes = random.nextInt(4) == 0;
            if (!scattered && step >= count(ownerOf(key))) {
                continue;
            }
            String old = live.get(key);
            String value = "v" + step + "." + i;
            long sequence = (long) step * changesPerStep + i;
            if (old == null) {
                out.accept(List.of(TestRows.row(RowKind.INSERT, key, value, sequence)));
                live.put(key, value);
            } else if (removes) {
                out.accept(List.of(TestRows.row(RowKind.DELETE, key, old, sequence)));
                live.remove(key);
            } else {
                out.accept(List.of(TestRows.row(RowKind.UPDATE_BEFORE, key, old, sequence),
                        TestRows.row(RowKind.UPDATE_AFTER, key, value, sequence)));
                live.put(key, value);
            }
        }
    }

    Map<Long, String> outcome() {
        Map<Long, String> live = new TreeMap<>();
        for (int step = 0; step < steps; ++step) {
            make(step, live, change -> {});
        }
        return live;
    }

    long events() {
        long[] events = {0};
        Map<Long, String> live = new TreeMap<>();
        for (int step = 0; step < steps; ++step) {
            make(step, live, change -> events[0] += change.size());
        }
        return events[0];
    }
}
