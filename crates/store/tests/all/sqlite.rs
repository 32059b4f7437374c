//! The SQLite store against the conformance suite.

use std::sync::Arc;

use tempfile::TempDir;
use windlass_runtime::ports::{BoxFuture, Store, StoreError};
use windlass_store::SqliteStore;
use windlass_store_testkit::reopen as cases;

use crate::kit;

fn fresh() -> (Arc<dyn Store>, TempDir) {
    let folder = kit::folder();
    (Arc::new(kit::open(&folder)), folder)
}

// spec: STORE-01, STORE-04, LANES-01, LANES-03, FAULT-34
windlass_store_testkit::conformance_tests!(
    tokio::test(flavor = "multi_thread", worker_threads = 2) => super::fresh()
);

mod reopen {
    use super::*;

    fn again(folder: &TempDir) -> BoxFuture<'_, Result<Arc<dyn Store>, StoreError>> {
        Box::pin(async {
            let store = SqliteStore::open(kit::file(folder))?;
            Ok(Arc::new(store) as Arc<dyn Store>)
        })
    }

    #[tokio::test]
    async fn accepted_messages() {
        let folder = kit::folder();
        cases::accepted_messages(&|| again(&folder)).await.unwrap();
    }

    #[tokio::test]
    async fn everything() {
        let folder = kit::folder();
        cases::everything(&|| again(&folder)).await.unwrap();
    }

    #[tokio::test]
    async fn epochs_go_on() {
        let folder = kit::folder();
        cases::epochs_go_on(&|| again(&folder)).await.unwrap();
    }
}
