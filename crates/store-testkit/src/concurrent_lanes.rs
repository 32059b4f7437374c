//! Conformance cases: concurrent operations.

use std::sync::Arc;

use windlass_core::log::record::Durability;
use windlass_runtime::ports::StoreError;

use crate::fixtures::{
    CaseResult, TestStore, append, claim_new_lane, entries, lane, read_head, read_whole_log, worker,
};

const LANES: u64 = 24;
const ENTRIES: u64 = 20;

/// Every lane has its own log, whatever is written to the others concurrently.
pub async fn lanes_at_once(store: TestStore) -> CaseResult {
    let drivers: Vec<_> =
        (0..LANES).map(|no| tokio::spawn(drive(Arc::clone(&store), no))).collect();
    for driver in drivers {
        assert_eq!(driver.await.ok(), Some(Ok(())));
    }
    for no in 0..LANES {
        let name = lane(&no.to_string());
        assert_eq!(read_whole_log(&store, &name).await?, entries(name.as_str(), 1, ENTRIES));
    }
    Ok(())
}

async fn drive(store: TestStore, no: u64) -> CaseResult {
    let name = lane(&no.to_string());
    let epoch = claim_new_lane(&store, &name).await?;
    for head in 0..ENTRIES {
        let mut step = append(&name, epoch, head, entries(name.as_str(), head + 1, head + 1));
        if (head + no).is_multiple_of(5) {
            step.durability = Durability::Barrier;
        }
        store.append(step).await?;
        if head.is_multiple_of(7) {
            let stale = store.append(append(&name, epoch, head, Vec::new())).await;
            assert_eq!(stale, Err(StoreError::Fenced { lane: name.clone() }));
        }
    }
    Ok(())
}

/// A lane that is claimed concurrently has one owner.
pub async fn two_owners_one_winner(store: TestStore) -> CaseResult {
    let a = lane("a");
    let epoch = claim_new_lane(&store, &a).await?;
    store.release_lane(a.clone(), worker("w"), epoch).await?;
    let claims: Vec<_> = (0..8)
        .map(|no| {
            let (store, a) = (Arc::clone(&store), a.clone());
            tokio::spawn(async move { store.claim_lane(a, worker(&format!("w{no}")), None).await })
        })
        .collect();
    let mut winners = Vec::new();
    for claim in claims {
        match claim.await {
            Ok(Ok(claim)) => winners.push(claim.epoch),
            Ok(Err(StoreError::Busy { .. })) => (),
            other => assert!(other.is_err(), "{other:?}"),
        }
    }
    assert_eq!(winners, [epoch + 1]);
    assert_eq!(read_head(&store, &a).await?, Some(0));
    Ok(())
}
