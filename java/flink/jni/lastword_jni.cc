// Java's side of the C interface: arrays and buffers in, arrays out, errors as exceptions. Decides
// nothing and knows nothing of Flink. Every handle is a long that one Java object owns; native code
// keeps no reference to anything of Java between calls.
#include <jni.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lastword/c.h"

namespace {

constexpr const char* kException = "org/lastword/flink/LastwordException";

struct ErrorDeleter {
  void operator()(lastword_error* error) const { lastword_error_free(error); }
};
struct BytesDeleter {
  void operator()(lastword_bytes* bytes) const { lastword_bytes_free(bytes); }
};
using BytesPtr = std::unique_ptr<lastword_bytes, BytesDeleter>;

// An array of `room` zeros and the bytes behind them.
jbyteArray NewArray(JNIEnv* env, const void* data, size_t size, jsize room = 0) {
  if (size > static_cast<size_t>(INT32_MAX - room)) {
    jclass type = env->FindClass("java/lang/OutOfMemoryError");
    if (type != nullptr) env->ThrowNew(type, "a native result exceeds the size of a Java array");
    return nullptr;
  }
  jbyteArray array = env->NewByteArray(room + static_cast<jsize>(size));
  if (array != nullptr && size != 0) {
    env->SetByteArrayRegion(array, room, static_cast<jsize>(size), static_cast<const jbyte*>(data));
  }
  return array;
}

// Throws `error` as a Java exception. Texts travel as bytes: Java's own string call takes no plain
// UTF-8.
void Throw(JNIEnv* env, lastword_error* error) {
  const std::unique_ptr<lastword_error, ErrorDeleter> owner(error);
  if (env->ExceptionCheck()) return;
  const std::string kind = error != nullptr ? lastword_error_kind(error) : "internal";
  const std::string error_class = error != nullptr ? lastword_error_class(error) : "defect";
  const std::string message =
      error != nullptr ? lastword_error_message(error) : "internal: out of native memory";
  jclass type = env->FindClass(kException);
  if (type == nullptr) return;
  jmethodID make = env->GetMethodID(type, "<init>", "([B[B[B)V");
  if (make == nullptr) return;
  jbyteArray parts[3] = {};
  const std::string* texts[3] = {&kind, &error_class, &message};
  for (int i = 0; i < 3; ++i) {
    parts[i] = NewArray(env, texts[i]->data(), texts[i]->size());
    if (parts[i] == nullptr) return;
  }
  jobject exception = env->NewObject(type, make, parts[0], parts[1], parts[2]);
  if (exception != nullptr) env->Throw(static_cast<jthrowable>(exception));
}

std::string ToString(JNIEnv* env, jbyteArray array) {
  const jsize size = env->GetArrayLength(array);
  std::string text(static_cast<size_t>(size), '\0');
  if (size != 0) {
    env->GetByteArrayRegion(array, 0, size, reinterpret_cast<jbyte*>(text.data()));
  }
  return text;
}

jbyteArray ToArray(JNIEnv* env, lastword_bytes* bytes, jsize room = 0) {
  const BytesPtr owner(bytes);
  return NewArray(env, lastword_bytes_data(bytes), lastword_bytes_size(bytes), room);
}

template <typename T>
T* Handle(jlong handle) {
  return reinterpret_cast<T*>(static_cast<intptr_t>(handle));
}

jlong ToLong(const void* handle) {
  return static_cast<jlong>(reinterpret_cast<intptr_t>(handle));
}

jlongArray NewLongs(JNIEnv* env, const std::vector<jlong>& values) {
  jlongArray array = env->NewLongArray(static_cast<jsize>(values.size()));
  if (array != nullptr) {
    env->SetLongArrayRegion(array, 0, static_cast<jsize>(values.size()), values.data());
  }
  return array;
}

// Batches in arrays of Java, taken out one behind the other: the heap holds all of them, native
// memory one.
struct BatchArrays {
  JNIEnv* env;
  jobjectArray arrays;
  std::vector<jint> begins;  // where in its array a batch begins
  std::vector<jbyte> bytes;
};

int32_t TakeFromJava(void* context, size_t index, lastword_view* batch) {
  auto* from = static_cast<BatchArrays*>(context);
  JNIEnv* env = from->env;
  auto* array =
      static_cast<jbyteArray>(env->GetObjectArrayElement(from->arrays, static_cast<jsize>(index)));
  if (env->ExceptionCheck()) return 1;
  const jsize size = env->GetArrayLength(array) - from->begins[index];
  if (from->bytes.size() < static_cast<size_t>(size)) from->bytes.resize(static_cast<size_t>(size));
  env->GetByteArrayRegion(array, from->begins[index], size, from->bytes.data());
  if (env->ExceptionCheck()) return 1;
  env->DeleteLocalRef(array);
  *batch = {reinterpret_cast<const uint8_t*>(from->bytes.data()), static_cast<size_t>(size)};
  return 0;
}

struct ScanTarget {
  JNIEnv* env;
  jobject sink;
  jmethodID accept;
};

int32_t GiveToJava(void* context, const uint8_t* encoded, size_t size, uint64_t rows) {
  const auto* target = static_cast<ScanTarget*>(context);
  JNIEnv* env = target->env;
  jobject buffer =
      env->NewDirectByteBuffer(const_cast<uint8_t*>(encoded), static_cast<jlong>(size));
  if (buffer == nullptr) return 1;
  const jboolean more =
      env->CallBooleanMethod(target->sink, target->accept, buffer, static_cast<jlong>(rows));
  if (env->ExceptionCheck()) return 1;
  env->DeleteLocalRef(buffer);
  return more ? 0 : 1;
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_org_lastword_flink_Native_writerOpen(JNIEnv* env, jclass,
                                                                  jbyteArray options) {
  const std::string text = ToString(env, options);
  lastword_writer* writer = nullptr;
  lastword_error* error = nullptr;
  if (lastword_writer_open(text.data(), text.size(), &writer, &error) != 0) Throw(env, error);
  return ToLong(writer);
}

JNIEXPORT void JNICALL Java_org_lastword_flink_Native_writerAdd(JNIEnv* env, jclass, jlong writer,
                                                                jobject rows, jint size,
                                                                jlong count) {
  const auto* bytes = static_cast<const uint8_t*>(env->GetDirectBufferAddress(rows));
  lastword_error* error = nullptr;
  if (lastword_writer_add(Handle<lastword_writer>(writer), bytes, static_cast<size_t>(size),
                          static_cast<uint64_t>(count), &error) != 0) {
    Throw(env, error);
  }
}

JNIEXPORT jbyteArray JNICALL Java_org_lastword_flink_Native_writerSeal(JNIEnv* env, jclass,
                                                                       jlong writer, jint room) {
  lastword_bytes* batch = nullptr;
  lastword_error* error = nullptr;
  if (lastword_writer_seal(Handle<lastword_writer>(writer), &batch, &error) != 0) {
    Throw(env, error);
    return nullptr;
  }
  return batch == nullptr ? nullptr : ToArray(env, batch, room);
}

JNIEXPORT jlongArray JNICALL Java_org_lastword_flink_Native_writerStats(JNIEnv* env, jclass,
                                                                        jlong writer) {
  lastword_writer_stats stats{};
  stats.size = sizeof stats;
  lastword_writer_get_stats(Handle<lastword_writer>(writer), &stats);
  return NewLongs(env,
                  {static_cast<jlong>(stats.bytes_held), static_cast<jlong>(stats.keys_held),
                   static_cast<jlong>(stats.rows_added), static_cast<jlong>(stats.rows_collapsed),
                   static_cast<jlong>(stats.suspected_inversions)});
}

JNIEXPORT void JNICALL Java_org_lastword_flink_Native_writerClose(JNIEnv*, jclass, jlong writer) {
  lastword_writer_close(Handle<lastword_writer>(writer));
}

JNIEXPORT jlong JNICALL Java_org_lastword_flink_Native_tableOpen(JNIEnv* env, jclass,
                                                                 jbyteArray uri,
                                                                 jbyteArray options) {
  const std::string where = ToString(env, uri);
  const std::string text = ToString(env, options);
  lastword_table* table = nullptr;
  lastword_error* error = nullptr;
  if (lastword_table_open(where.data(), where.size(), text.data(), text.size(), &table, &error) !=
      0) {
    Throw(env, error);
  }
  return ToLong(table);
}

JNIEXPORT jlongArray JNICALL Java_org_lastword_flink_Native_tableCommit(JNIEnv* env, jclass,
                                                                        jlong table, jbyteArray id,
                                                                        jobjectArray arrays,
                                                                        jintArray begins) {
  const std::string checkpoint = ToString(env, id);
  BatchArrays batches{env, arrays, {}, {}};
  batches.begins.resize(static_cast<size_t>(env->GetArrayLength(arrays)));
  env->GetIntArrayRegion(begins, 0, static_cast<jsize>(batches.begins.size()),
                         batches.begins.data());
  if (env->ExceptionCheck()) return nullptr;
  lastword_commit_result result{};
  result.size = sizeof result;
  lastword_error* error = nullptr;
  if (lastword_table_commit_from(Handle<lastword_table>(table), checkpoint.data(),
                                 checkpoint.size(), batches.begins.size(), &TakeFromJava, &batches,
                                 &result, &error) != 0) {
    Throw(env, error);
    return nullptr;
  }
  std::vector<jlong> values;
  for (const uint64_t value :
       {result.lance_version, result.already_committed, result.rows_written, result.rows_deleted,
        result.bytes_written, result.applied, result.stale, result.below_floor, result.repeat,
        result.conflict, result.quarantined, result.tombstones}) {
    values.push_back(static_cast<jlong>(value));
  }
  return NewLongs(env, values);
}

JNIEXPORT jbyteArray JNICALL Java_org_lastword_flink_Native_tableExplain(JNIEnv* env, jclass,
                                                                         jlong table,
                                                                         jbyteArray key,
                                                                         jbyteArray version) {
  const std::string asked = ToString(env, key);
  const std::string at = ToString(env, version);
  lastword_bytes* json = nullptr;
  lastword_error* error = nullptr;
  if (lastword_table_explain(Handle<lastword_table>(table), asked.data(), asked.size(), at.data(),
                             at.size(), &json, &error) != 0) {
    Throw(env, error);
    return nullptr;
  }
  return ToArray(env, json);
}

JNIEXPORT void JNICALL Java_org_lastword_flink_Native_tableClose(JNIEnv*, jclass, jlong table) {
  lastword_table_close(Handle<lastword_table>(table));
}

JNIEXPORT jbyteArray JNICALL Java_org_lastword_flink_Native_describe(JNIEnv* env, jclass,
                                                                     jbyteArray uri,
                                                                     jlong version) {
  const std::string where = ToString(env, uri);
  lastword_bytes* json = nullptr;
  lastword_error* error = nullptr;
  if (lastword_describe(where.data(), where.size(), static_cast<uint64_t>(version), &json,
                        &error) != 0) {
    Throw(env, error);
    return nullptr;
  }
  return ToArray(env, json);
}

JNIEXPORT void JNICALL Java_org_lastword_flink_Native_scan(JNIEnv* env, jclass, jbyteArray uri,
                                                           jlong version, jbyteArray columns,
                                                           jobject sink) {
  const std::string where = ToString(env, uri);
  const std::string names = ToString(env, columns);
  jclass type = env->GetObjectClass(sink);
  ScanTarget target{env, sink, env->GetMethodID(type, "accept", "(Ljava/nio/ByteBuffer;J)Z")};
  if (target.accept == nullptr) return;
  lastword_error* error = nullptr;
  if (lastword_scan(where.data(), where.size(), static_cast<uint64_t>(version), names.data(),
                    names.size(), &GiveToJava, &target, &error) != 0) {
    Throw(env, error);
  }
}

}  // extern "C"
