//! The one tokio runtime. Nothing outside this crate sees it; the caller's thread blocks.

use std::future::Future;
use std::sync::OnceLock;

use tokio::runtime::{Builder, Handle, Runtime};

/// Runs `future` to its end on the calling thread; what Lance spawns runs on the runtime's own
/// threads.
pub fn block_on<F: Future>(future: F) -> F::Output {
    runtime().block_on(future)
}

/// For values whose destructor needs a runtime around it.
pub fn handle() -> &'static Handle {
    runtime().handle()
}

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get());
        Builder::new_multi_thread()
            .worker_threads(cores.clamp(2, 16))
            .thread_name("lance")
            .enable_all()
            .build()
            .expect("tokio runtime")
    })
}
