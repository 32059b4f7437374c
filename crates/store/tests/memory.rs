//! The model against the suite that every store passes.

use std::sync::Arc;

use windlass_runtime::ports::Store;
use windlass_store::MemoryStore;

fn fresh() -> (Arc<dyn Store>, ()) {
    (Arc::new(MemoryStore::simulated()), ())
}

windlass_store::conformance_tests!(super::fresh());
