package org.lastword.flink;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** An error of the native library. Its message begins with the kind ("version_conflict: …"). */
public class LastwordException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String kind;
    private final String errorClass;

    /** Called by the native side, with UTF-8. */
    LastwordException(byte[] kind, byte[] errorClass, byte[] message) {
        super(new String(message, StandardCharsets.UTF_8));
        this.kind = new String(kind, StandardCharsets.UTF_8);
        this.errorClass = new String(errorClass, StandardCharsets.UTF_8);
    }

    public String kind() {
        return kind;
    }

    /** True where the same call, on a table that is opened again, may succeed. */
    public boolean isRepeatable() {
        return errorClass.equals("retry") || errorClass.equals("reread")
                || errorClass.equals("look_up");
    }

    public boolean isKind(String name) {
        return kind.equals(name);
    }
}
