//! Many at once.

use std::sync::Arc;

use windlass_core::record::Durability;
use windlass_runtime::ports::StoreError;

use super::material::{Subject, Verdict, append, entries, head, lane, log, owned, worker};

const LANES: u64 = 24;
const ENTRIES: u64 = 20;

/// Every lane has its own log, whatever the others do meanwhile.
pub async fn lanes_at_once(store: Subject) -> Verdict {
    let drivers: Vec<_> =
        (0..LANES).map(|no| tokio::spawn(drive(Arc::clone(&store), no))).collect();
    for driver in drivers {
        assert_eq!(driver.await.ok(), Some(Ok(())));
    }
    for no in 0..LANES {
        let name = lane(&no.to_string());
        assert_eq!(log(&store, &name).await?, entries(name.as_str(), 1, ENTRIES));
    }
    Ok(())
}

async fn drive(store: Subject, no: u64) -> Verdict {
    let name = lane(&no.to_string());
    let epoch = owned(&store, &name).await?;
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

/// Claimed at the same moment, a lane has one owner.
pub async fn two_owners_one_winner(store: Subject) -> Verdict {
    let a = lane("a");
    let epoch = owned(&store, &a).await?;
    store.release(a.clone(), worker("w"), epoch).await?;
    let claims: Vec<_> = (0..8)
        .map(|no| {
            let (store, a) = (Arc::clone(&store), a.clone());
            tokio::spawn(async move { store.claim(a, worker(&format!("w{no}")), None).await })
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
    assert_eq!(head(&store, &a).await?, Some(0));
    Ok(())
}
