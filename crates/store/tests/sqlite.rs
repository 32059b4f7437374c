//! SQLite against the suite that every store passes.

use std::sync::Arc;

use tempfile::TempDir;
use windlass_runtime::ports::{Store, StoreError, Task};
use windlass_store::{SqliteStore, conformance};

fn fresh() -> (Arc<dyn Store>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("windlass.db")).unwrap();
    (Arc::new(store), folder)
}

windlass_store::conformance_tests!(super::fresh());

mod reopen {
    use super::*;

    fn again(folder: &TempDir) -> Task<'_, Result<Arc<dyn Store>, StoreError>> {
        Box::pin(async {
            let store = SqliteStore::open(folder.path().join("windlass.db"))?;
            Ok(Arc::new(store) as Arc<dyn Store>)
        })
    }

    #[tokio::test]
    async fn accepted_mail() {
        let folder = tempfile::tempdir().unwrap();
        conformance::reopen::accepted_mail(&|| again(&folder)).await.unwrap();
    }

    #[tokio::test]
    async fn everything() {
        let folder = tempfile::tempdir().unwrap();
        conformance::reopen::everything(&|| again(&folder)).await.unwrap();
    }

    #[tokio::test]
    async fn epochs_go_on() {
        let folder = tempfile::tempdir().unwrap();
        conformance::reopen::epochs_go_on(&|| again(&folder)).await.unwrap();
    }
}
