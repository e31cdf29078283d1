use lance as _; use lance_core as _; use lance_index as _; use lance_io as _; use lance_linalg as _; use lance_table as _;
#[unsafe(no_mangle)] pub extern "C" fn lastword_lance_probe() -> i32 { 0 }
