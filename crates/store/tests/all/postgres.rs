//! The PostgreSQL store against the conformance suite.

use std::sync::Arc;

use windlass_runtime::ports::{BoxFuture, Store, StoreError};
use windlass_store::PostgresStore;
use windlass_store_testkit::reopen as cases;

use crate::postgres_kit::database;

async fn fresh() -> (Arc<dyn Store>, ()) {
    (Arc::new(PostgresStore::open(&database().await).await.unwrap()), ())
}

// spec: STORE-01, STORE-04, LANES-01, LANES-03
windlass_store_testkit::conformance_tests!(
    tokio::test(flavor = "multi_thread", worker_threads = 2) => super::fresh().await
);

mod reopen {
    use super::*;

    fn again(url: &str) -> BoxFuture<'_, Result<Arc<dyn Store>, StoreError>> {
        Box::pin(async {
            let store = PostgresStore::open(url).await?;
            Ok(Arc::new(store) as Arc<dyn Store>)
        })
    }

    #[tokio::test]
    async fn accepted_messages() {
        let url = database().await;
        cases::accepted_messages(&|| again(&url)).await.unwrap();
    }

    #[tokio::test]
    async fn everything() {
        let url = database().await;
        cases::everything(&|| again(&url)).await.unwrap();
    }

    #[tokio::test]
    async fn epochs_go_on() {
        let url = database().await;
        cases::epochs_go_on(&|| again(&url)).await.unwrap();
    }
}
