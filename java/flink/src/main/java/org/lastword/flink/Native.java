package org.lastword.flink;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The native calls, and the loading of the library behind them. A JVM loads one file for one class
 * loader only, and every job of a session cluster has a class loader of its own: so each copies the
 * library out of the jar to a file that nothing else uses. The files are deleted as soon as they
 * are mapped.
 */
final class Native {
    private static final String JNI = "liblastword_jni.so";

    static {
        load();
    }

    private Native() {}

    /** Makes sure that the library is there; the first use of any call does it as well. */
    static void ensureLoaded() {}

    static native long writerOpen(byte[] options) throws LastwordException;

    static native void writerAdd(long writer, ByteBuffer rows, int size, long count)
            throws LastwordException;

    /**
     * The next of the batches that the writer holds, behind `room` bytes for the caller to fill;
     * null where there is none.
     */
    static native byte[] writerSeal(long writer, int room) throws LastwordException;

    /** bytes held, keys held, rows added, rows collapsed, suspected inversions. */
    static native long[] writerStats(long writer);

    static native void writerClose(long writer);

    static native long tableOpen(byte[] uri, byte[] options) throws LastwordException;

    /**
     * Batch `i` is what lies in `arrays[i]` from `begins[i]` on. Returns the fields of
     * lastword_commit_result, in order.
     */
    static native long[] tableCommit(long table, byte[] id, byte[][] arrays, int[] begins)
            throws LastwordException;

    static native byte[] tableExplain(long table, byte[] key, byte[] version)
            throws LastwordException;

    static native void tableClose(long table);

    static native byte[] describe(byte[] uri, long version) throws LastwordException;

    static native void scan(byte[] uri, long version, byte[] columns, ScanSink sink)
            throws LastwordException;

    /** Takes encoded rows; the buffer is valid during the call only. False ends the scan. */
    interface ScanSink {
        boolean accept(ByteBuffer rows, long count);
    }

    private static void load() {
        String folder = System.getProperty("lastword.native.dir");
        if (folder != null) {
            System.load(Path.of(folder, JNI).toAbsolutePath().toString());
            return;
        }
        try {
            Path unique = Files.createTempDirectory("lastword-native-");
            List<String> names = names();
            try {
                // The linker finds the others beside the one that is loaded.
                for (String name : names) {
                    try (InputStream in = open(name)) {
                        Files.copy(in, unique.resolve(name));
                    }
                }
                System.load(unique.resolve(JNI).toString());
            } finally {
                for (String name : names) {
                    Files.deleteIfExists(unique.resolve(name));
                }
                Files.deleteIfExists(unique);
            }
        } catch (IOException e) {
            throw new UnsatisfiedLinkError("the native library cannot be copied: " + e);
        }
    }

    private static List<String> names() throws IOException {
        try (InputStream in = open("files.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        }
    }

    private static InputStream open(String name) throws IOException {
        String resource = "/native/linux-" + System.getProperty("os.arch") + "/" + name;
        InputStream in = Native.class.getResourceAsStream(resource);
        if (in == null) {
            throw new IOException(resource + " is not in the jar: it is built for another "
                    + "platform");
        }
        return in;
    }
}
