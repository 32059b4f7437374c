//! The in-memory store against the conformance suite.

use std::sync::Arc;

use windlass_runtime::ports::Store;
use windlass_store::MemoryStore;

fn fresh() -> (Arc<dyn Store>, ()) {
    (Arc::new(MemoryStore::with_commit_history()), ())
}

// spec: STORE-01, STORE-04, LANES-01, LANES-03
windlass_store_testkit::conformance_tests!(
    tokio::test(flavor = "multi_thread", worker_threads = 2) => super::fresh()
);
