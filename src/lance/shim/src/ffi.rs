//! The C ABI. The only unsafe code of the crate: turns C arguments into Rust values and back,
//! catches panics. What each call promises is said in `lastword_lance.h`.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::{Array, RecordBatch, StructArray};
use arrow_schema::{DataType, Schema as ArrowSchema};
use lance_table::format::Fragment;

use crate::dataset::{Committed, Handle, Options, Properties, VersionInfo};
use crate::error::{Class, Failure, Outcome};
use crate::index::IndexInfo;
use crate::maintenance::{Compaction, CompactionRequest};
use crate::runtime::block_on;
use crate::scan::Scan;
use crate::write::{Files, Request, Write};

/// What `lastword_lance_error*` points to.
pub type ErrorBox = Failure;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    data: *const u8,
    size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Property {
    key: Text,
    value: Text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PropertyList {
    data: *const Property,
    size: usize,
}

#[repr(C)]
pub struct RawOptions {
    fsync: i32,
    storage_version: Text,
    cache_bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawFragment {
    id: u64,
    physical_rows: u64,
    deleted_rows: u64,
    bytes: u64,
    index_set: u64,
}

#[repr(C)]
pub struct RawIndex {
    name: Text,
    column: Text,
    unindexed_rows: u64,
}

#[repr(C)]
pub struct RawVersion {
    version: u64,
    timestamp_ms: i64,
    restored_version: u64,
    operation: Text,
    transaction_id: Text,
    properties: PropertyList,
}

#[repr(C)]
pub struct Receipt {
    version: u64,
    new_fragments: *const RawFragment,
    new_fragments_size: usize,
    bytes_written: u64,
}

#[repr(C)]
pub struct RawCommitRequest {
    expected_version: u64,
    rows_schema: *mut FFI_ArrowSchema,
    rows: *mut FFI_ArrowArray,
    rows_size: usize,
    deleted: *const u64,
    deleted_size: usize,
    begun: *mut Write,
    properties: PropertyList,
    transaction_id: Text,
}

#[repr(C)]
pub struct RawCompactionRequest {
    fragments: *const u64,
    fragments_size: usize,
    target_rows: u64,
    file_bytes: u64,
    batch_rows: u64,
    buffer_bytes: u64,
}

/// What `lastword_lance_dataset*` points to: the handle, and what the last call lent to the caller.
pub struct DatasetBox {
    handle: Handle,
    fragments: Vec<RawFragment>,
    versions: Vec<u64>,
    described: Option<(VersionInfo, Vec<Property>)>,
    indices: (Vec<IndexInfo>, Vec<RawIndex>),
}

impl DatasetBox {
    fn new(handle: Handle) -> Box<Self> {
        Box::new(Self {
            handle,
            fragments: Vec::new(),
            versions: Vec::new(),
            described: None,
            indices: Default::default(),
        })
    }

    fn lend_receipt(&mut self, committed: Committed) -> Receipt {
        let fragments = committed.new_fragments.iter();
        self.fragments = fragments
            .map(|fragment| raw_fragment(fragment, 0))
            .collect();
        Receipt {
            version: committed.version,
            new_fragments: self.fragments.as_ptr(),
            new_fragments_size: self.fragments.len(),
            bytes_written: committed.bytes_written,
        }
    }
}

/// Runs one call; a panic becomes an error like any other.
fn guard(call: impl FnOnce() -> Outcome<()>) -> *mut ErrorBox {
    let failure = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => return std::ptr::null_mut(),
        Ok(Err(failure)) => failure,
        Err(payload) => {
            let text = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied());
            Failure::new(Class::Panic, text.unwrap_or("panic without a message"))
        }
    };
    Box::into_raw(Box::new(failure))
}

impl Text {
    fn of(text: &str) -> Self {
        Self {
            data: text.as_ptr(),
            size: text.len(),
        }
    }

    /// # Safety
    /// `data` points to `size` bytes, or `size` is 0.
    unsafe fn read(self) -> Outcome<String> {
        let bytes = unsafe { slice(self.data, self.size) };
        let text = std::str::from_utf8(bytes).map_err(|_| Failure::invalid("text is not UTF-8"))?;
        Ok(text.to_string())
    }
}

/// # Safety
/// `data` points to `size` values, or `size` is 0.
unsafe fn slice<'a, T>(data: *const T, size: usize) -> &'a [T] {
    if size == 0 {
        return &[];
    }
    unsafe { std::slice::from_raw_parts(data, size) }
}

/// # Safety
/// As for `slice`, for the list and each of its texts.
unsafe fn read_properties(list: PropertyList) -> Outcome<Properties> {
    let properties = unsafe { slice(list.data, list.size) };
    properties
        .iter()
        .map(|property| unsafe { Ok((property.key.read()?, property.value.read()?)) })
        .collect()
}

/// # Safety
/// As for `slice`, for the array and each text.
unsafe fn read_texts(texts: *const Text, size: usize) -> Outcome<Vec<String>> {
    let texts = unsafe { slice(texts, size) };
    texts.iter().map(|text| unsafe { text.read() }).collect()
}

/// # Safety
/// `options` points to options.
unsafe fn read_options(options: *const RawOptions) -> Outcome<Options> {
    let options = unsafe { &*options };
    Ok(Options {
        fsync: options.fsync != 0,
        storage_version: unsafe { options.storage_version.read()? },
        cache_bytes: options.cache_bytes,
    })
}

/// Moves a schema out of the caller's structure.
///
/// # Safety
/// `schema` points to a valid, unreleased schema.
unsafe fn take_schema(schema: *mut FFI_ArrowSchema) -> Outcome<ArrowSchema> {
    let schema = unsafe { FFI_ArrowSchema::from_raw(schema) };
    Ok(ArrowSchema::try_from(&schema)?)
}

/// Moves struct arrays out of the caller's structures, all of them even if one is refused.
///
/// # Safety
/// `rows` points to `size` valid, unreleased arrays of `schema`.
unsafe fn take_rows(
    schema: &ArrowSchema,
    rows: *mut FFI_ArrowArray,
    size: usize,
) -> Outcome<Vec<RecordBatch>> {
    let arrays: Vec<FFI_ArrowArray> = (0..size)
        .map(|at| unsafe { FFI_ArrowArray::from_raw(rows.add(at)) })
        .collect();
    let data_type = DataType::Struct(schema.fields().clone());
    arrays
        .into_iter()
        .map(|array| {
            let mut data = unsafe { from_ffi_and_data_type(array, data_type.clone()) }?;
            data.align_buffers();
            // Text that is not UTF-8 would be stored as it is and break every reader.
            data.validate_full()?;
            Ok(RecordBatch::from(StructArray::from(data)).with_schema(schema.clone().into())?)
        })
        .collect()
}

fn export_rows(batch: RecordBatch) -> FFI_ArrowArray {
    FFI_ArrowArray::new(&StructArray::from(batch).to_data())
}

fn raw_fragment(fragment: &Fragment, index_set: u64) -> RawFragment {
    let deleted = fragment.deletion_file.as_ref();
    let sizes = fragment.files.iter().map(|file| file.file_size_bytes.get());
    RawFragment {
        id: fragment.id,
        physical_rows: fragment.physical_rows.unwrap_or_default() as u64,
        deleted_rows: deleted
            .and_then(|file| file.num_deleted_rows)
            .unwrap_or_default() as u64,
        bytes: sizes.map(|size| size.map_or(0, u64::from)).sum(),
        index_set,
    }
}

// All functions below: pointers are as lastword_lance.h demands, which is what makes them sound.

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_error_get_class(error: *const ErrorBox) -> i32 {
    unsafe { (*error).class as i32 }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_error_get_message(error: *const ErrorBox) -> Text {
    let error = unsafe { &*error };
    Text::of(&error.message)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_error_free(error: *mut ErrorBox) {
    if !error.is_null() {
        drop(unsafe { Box::from_raw(error) });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_open(
    uri: Text,
    options: *const RawOptions,
    out: *mut *mut DatasetBox,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let (uri, options) = (uri.read()?, read_options(options)?);
        let handle = block_on(Handle::open(&uri, &options))?;
        *out = Box::into_raw(DatasetBox::new(handle));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_create(
    uri: Text,
    schema: *mut FFI_ArrowSchema,
    properties: PropertyList,
    transaction_id: Text,
    options: *const RawOptions,
    out: *mut *mut DatasetBox,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let schema = take_schema(schema)?;
        let (uri, options) = (uri.read()?, read_options(options)?);
        let (properties, id) = (read_properties(properties)?, transaction_id.read()?);
        let handle = block_on(Handle::create(&uri, &schema, properties, &id, &options))?;
        *out = Box::into_raw(DatasetBox::new(handle));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_close(dataset: *mut DatasetBox) {
    if !dataset.is_null() {
        let dataset = unsafe { Box::from_raw(dataset) };
        let _entered = crate::runtime::handle().enter();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(dataset)));
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_get_version(dataset: *const DatasetBox) -> u64 {
    unsafe { (*dataset).handle.version() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_get_schema(
    dataset: *mut DatasetBox,
    out: *mut FFI_ArrowSchema,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let schema = ArrowSchema::from((*dataset).handle.dataset.schema());
        out.write(FFI_ArrowSchema::try_from(&schema)?);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_get_fragments(
    dataset: *mut DatasetBox,
    out: *mut *const RawFragment,
    out_size: *mut usize,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let dataset = &mut *dataset;
        let fragments = dataset.handle.dataset.manifest.fragments.clone();
        let sets = block_on(dataset.handle.index_sets())?;
        let raw = |(fragment, set): (&Fragment, &u64)| raw_fragment(fragment, *set);
        dataset.fragments = fragments.iter().zip(&sets).map(raw).collect();
        dataset.fragments.sort_by_key(|fragment| fragment.id);
        *out = dataset.fragments.as_ptr();
        *out_size = dataset.fragments.len();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_refresh(dataset: *mut DatasetBox) -> *mut ErrorBox {
    guard(|| unsafe { block_on((*dataset).handle.refresh()) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_latest(
    dataset: *mut DatasetBox,
    out: *mut u64,
) -> *mut ErrorBox {
    guard(|| unsafe {
        *out = block_on((*dataset).handle.latest())?;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_checkout(
    dataset: *mut DatasetBox,
    version: u64,
) -> *mut ErrorBox {
    guard(|| unsafe { block_on((*dataset).handle.checkout(version)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_versions(
    dataset: *mut DatasetBox,
    out: *mut *const u64,
    out_size: *mut usize,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let dataset = &mut *dataset;
        dataset.versions = block_on(dataset.handle.versions())?;
        *out = dataset.versions.as_ptr();
        *out_size = dataset.versions.len();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_describe(
    dataset: *mut DatasetBox,
    version: u64,
    out: *mut RawVersion,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let dataset = &mut *dataset;
        let info = block_on(dataset.handle.describe(version))?;
        let (info, list) = dataset.described.insert((info, Vec::new()));
        *list = info
            .properties
            .iter()
            .map(|(key, value)| Property {
                key: Text::of(key),
                value: Text::of(value),
            })
            .collect();
        out.write(RawVersion {
            version: info.version,
            timestamp_ms: info.timestamp_ms,
            restored_version: info.restored_version,
            operation: Text::of(&info.operation),
            transaction_id: Text::of(&info.transaction_id),
            properties: PropertyList {
                data: list.as_ptr(),
                size: list.len(),
            },
        });
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_find_transaction(
    dataset: *mut DatasetBox,
    id: Text,
    from_version: u64,
    out: *mut u64,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let found = block_on(
            (*dataset)
                .handle
                .find_transaction(&id.read()?, from_version),
        )?;
        *out = found.unwrap_or_default();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_scan_open(
    dataset: *mut DatasetBox,
    columns: *const Text,
    columns_size: usize,
    fragments: *const u64,
    fragments_size: usize,
    batch_rows: usize,
    in_order: i32,
    out_schema: *mut FFI_ArrowSchema,
    out: *mut *mut Scan,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let columns = read_texts(columns, columns_size)?;
        let fragments = slice(fragments, fragments_size);
        let scan = block_on((*dataset).handle.scan(
            &columns,
            fragments,
            batch_rows,
            in_order != 0,
        ))?;
        out_schema.write(FFI_ArrowSchema::try_from(scan.schema())?);
        *out = Box::into_raw(Box::new(scan));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_scan_next(
    scan: *mut Scan,
    out: *mut FFI_ArrowArray,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let batch = block_on((*scan).next())?;
        out.write(batch.map_or_else(FFI_ArrowArray::empty, export_rows));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_scan_close(scan: *mut Scan) {
    if !scan.is_null() {
        let scan = unsafe { Box::from_raw(scan) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(scan)));
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_take(
    dataset: *mut DatasetBox,
    addresses: *const u64,
    addresses_size: usize,
    columns: *const Text,
    columns_size: usize,
    out_schema: *mut FFI_ArrowSchema,
    piece: unsafe extern "C" fn(*mut c_void, *mut FFI_ArrowArray) -> i32,
    context: *mut c_void,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let handle = &(*dataset).handle;
        let columns = read_texts(columns, columns_size)?;
        let addresses = slice(addresses, addresses_size);
        let schema = ArrowSchema::from(&handle.dataset.schema().project(&columns)?);
        let batches = block_on(handle.take(addresses, &columns))?;
        out_schema.write(FFI_ArrowSchema::try_from(&schema)?);
        for batch in batches {
            // The callback takes the array over, so nothing of it is dropped here.
            let mut array = std::mem::ManuallyDrop::new(export_rows(batch));
            if piece(context, &mut *array) != 0 {
                break;
            }
        }
        Ok(())
    })
}

/// Takes the rows of a request over; none where it has none.
unsafe fn rows_of(raw: &RawCommitRequest) -> Outcome<Vec<RecordBatch>> {
    if raw.rows_schema.is_null() {
        return Ok(Vec::new());
    }
    unsafe {
        let schema = take_schema(raw.rows_schema)?;
        take_rows(&schema, raw.rows, raw.rows_size)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_write_begin(
    dataset: *mut DatasetBox,
    request: *const RawCommitRequest,
    out: *mut *mut Write,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let raw = &*request;
        let deleted = slice(raw.deleted, raw.deleted_size).to_vec();
        let begun = (*dataset).handle.begin_write(rows_of(raw)?, deleted);
        *out = Box::into_raw(Box::new(begun));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_write_abandon(write: *mut Write) {
    let write = unsafe { Box::from_raw(write) };
    let _ = catch_unwind(AssertUnwindSafe(|| block_on(write.abandon())));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_commit(
    dataset: *mut DatasetBox,
    request: *const RawCommitRequest,
    out: *mut Receipt,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let raw = &*request;
        let files = if raw.begun.is_null() {
            Files::Of {
                rows: rows_of(raw)?,
                deleted: slice(raw.deleted, raw.deleted_size).to_vec(),
            }
        } else {
            Files::Begun(*Box::from_raw(raw.begun))
        };
        let request = Request {
            expected_version: raw.expected_version,
            files,
            properties: read_properties(raw.properties)?,
            transaction_id: raw.transaction_id.read()?,
        };
        let dataset = &mut *dataset;
        let committed = block_on(dataset.handle.commit(request))?;
        out.write(dataset.lend_receipt(committed));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_add_columns(
    dataset: *mut DatasetBox,
    columns: *mut FFI_ArrowSchema,
    expected_version: u64,
    properties: PropertyList,
    out: *mut Receipt,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let columns = take_schema(columns)?;
        let properties = read_properties(properties)?;
        let dataset = &mut *dataset;
        let call = dataset
            .handle
            .add_columns(&columns, expected_version, properties);
        let committed = block_on(call)?;
        out.write(dataset.lend_receipt(committed));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_widen_column(
    dataset: *mut DatasetBox,
    column: *mut FFI_ArrowSchema,
    expected_version: u64,
    properties: PropertyList,
    out: *mut Receipt,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let schema = take_schema(column)?;
        let properties = read_properties(properties)?;
        let [field] = schema.fields().as_ref() else {
            return Err(Failure::invalid("one column at a time"));
        };
        let dataset = &mut *dataset;
        let call = dataset
            .handle
            .widen_column(field, expected_version, properties);
        let committed = block_on(call)?;
        out.write(dataset.lend_receipt(committed));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_compaction_begin(
    dataset: *mut DatasetBox,
    request: *const RawCompactionRequest,
    out: *mut *mut Compaction,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let raw = &*request;
        let request = CompactionRequest {
            fragments: slice(raw.fragments, raw.fragments_size).to_vec(),
            target_rows: raw.target_rows,
            file_bytes: raw.file_bytes,
            batch_rows: raw.batch_rows,
            buffer_bytes: raw.buffer_bytes,
        };
        let begun = block_on((*dataset).handle.begin_compaction(request))?;
        *out = Box::into_raw(Box::new(begun));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_compaction_wait(
    compaction: *mut Compaction,
    limit_ms: u64,
) -> i32 {
    let limit = Duration::from_millis(limit_ms);
    let wait = || block_on(unsafe { (*compaction).wait(limit) });
    // What panics there shows up at the end.
    catch_unwind(AssertUnwindSafe(wait)).map_or(1, i32::from)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_compaction_finish(
    dataset: *mut DatasetBox,
    compaction: *mut Compaction,
    expected_version: u64,
    properties: PropertyList,
    out: *mut Receipt,
) -> *mut ErrorBox {
    let compaction = unsafe { Box::from_raw(compaction) };
    guard(|| unsafe {
        let properties = read_properties(properties)?;
        let dataset = &mut *dataset;
        let call = dataset
            .handle
            .finish_compaction(*compaction, expected_version, properties);
        let committed = block_on(call)?;
        out.write(dataset.lend_receipt(committed));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_compaction_abandon(compaction: *mut Compaction) {
    let compaction = unsafe { Box::from_raw(compaction) };
    let _ = catch_unwind(AssertUnwindSafe(|| block_on(compaction.abandon())));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_restore(
    dataset: *mut DatasetBox,
    version: u64,
    expected_version: u64,
    properties: PropertyList,
    out: *mut Receipt,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let properties = read_properties(properties)?;
        let dataset = &mut *dataset;
        let call = dataset
            .handle
            .restore(version, expected_version, properties);
        let committed = block_on(call)?;
        out.write(dataset.lend_receipt(committed));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_cleanup(
    dataset: *mut DatasetBox,
    keep_from: u64,
    out_bytes: *mut u64,
) -> *mut ErrorBox {
    guard(|| unsafe {
        *out_bytes = block_on((*dataset).handle.cleanup(keep_from))?;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_create_index(
    dataset: *mut DatasetBox,
    column: Text,
    kind: Text,
    expected_version: u64,
    properties: PropertyList,
    out: *mut Receipt,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let (column, kind) = (column.read()?, kind.read()?);
        let properties = read_properties(properties)?;
        let dataset = &mut *dataset;
        let call = dataset
            .handle
            .create_index(&column, &kind, expected_version, properties);
        let committed = block_on(call)?;
        out.write(dataset.lend_receipt(committed));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_extend_index(
    dataset: *mut DatasetBox,
    name: Text,
    expected_version: u64,
    properties: PropertyList,
    out: *mut Receipt,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let (name, properties) = (name.read()?, read_properties(properties)?);
        let dataset = &mut *dataset;
        let call = dataset
            .handle
            .extend_index(&name, expected_version, properties);
        let committed = block_on(call)?;
        out.write(dataset.lend_receipt(committed));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lastword_lance_indices(
    dataset: *mut DatasetBox,
    out: *mut *const RawIndex,
    out_size: *mut usize,
) -> *mut ErrorBox {
    guard(|| unsafe {
        let dataset = &mut *dataset;
        let (found, list) = &mut dataset.indices;
        *found = block_on(dataset.handle.indices())?;
        *list = found
            .iter()
            .map(|index| RawIndex {
                name: Text::of(&index.name),
                column: Text::of(&index.column),
                unindexed_rows: index.unindexed_rows,
            })
            .collect();
        *out = list.as_ptr();
        *out_size = list.len();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn lastword_lance_panic() -> *mut ErrorBox {
    guard(|| panic!("asked to panic"))
}
