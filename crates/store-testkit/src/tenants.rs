//! Conformance cases: limits of tenants.

use windlass_core::log::ids::{LaneId, UnixMillis};
use windlass_core::stop::RunState;
use windlass_runtime::ports::{Affinity, ClaimQuery, StoreError, TenantLimits, WorkerScope};

use crate::fixtures::{CaseResult, TestStore, lane, message, worker};

fn of_tenant(tenant: &str) -> Affinity {
    Affinity { tenant: tenant.into(), ..Affinity::default() }
}

fn claim_query() -> ClaimQuery {
    let scope = WorkerScope::default();
    ClaimQuery { now: UnixMillis(1_000), limit: 10, scope, exclude: Vec::new() }
}

async fn claim(store: &TestStore, name: &str) -> Result<Vec<LaneId>, StoreError> {
    let claims = store.claim_runnable_lanes(worker(name), claim_query()).await?;
    Ok(claims.into_iter().map(|(lane, _)| lane).collect())
}

/// A tenant cannot queue more prompts than its limit, whoever sends them; the same prompt again is
/// still accepted, and other tenants are not affected.
pub async fn queued_prompts_are_limited(store: TestStore) -> CaseResult {
    let limits = TenantLimits { queued_prompts: Some(2), ..TenantLimits::default() };
    store.set_tenant_limits("t".into(), limits).await?;
    assert_eq!(store.tenant_limits().await?, [("t".into(), limits)]);
    let sends = (0..8).map(|nth| {
        let store = store.clone();
        let lane = lane(&nth.to_string());
        tokio::spawn(async move { store.enqueue_prompt(lane, of_tenant("t"), message("k")).await })
    });
    let mut accepted = Vec::new();
    for (nth, send) in sends.collect::<Vec<_>>().into_iter().enumerate() {
        match send.await {
            Ok(Ok(_)) => accepted.push(nth),
            Ok(Err(StoreError::LimitReached { .. })) => {}
            Ok(Err(error)) => return Err(error),
            Err(_) => return Err(StoreError::Invalid { message: "a sender panicked".into() }),
        }
    }
    assert_eq!(accepted.len(), 2);
    for nth in &accepted {
        store.enqueue_prompt(lane(&nth.to_string()), of_tenant("t"), message("k")).await?;
    }
    store.enqueue_prompt(lane("other"), of_tenant("u"), message("k")).await?;
    store.set_tenant_limits("t".into(), TenantLimits::default()).await?;
    store.enqueue_prompt(lane("more"), of_tenant("t"), message("k")).await?;
    let counts = store.count_runs().await?;
    let queued = counts.iter().find(|it| it.state == RunState::Queued).map(|it| it.count);
    assert_eq!(queued, Some(4));
    Ok(())
}

/// A prompt for the lane of another tenant is refused, and changes nothing.
pub async fn lanes_of_others_are_not_found(store: TestStore) -> CaseResult {
    store.enqueue_prompt(lane("a"), of_tenant("t"), message("k")).await?;
    for tenant in ["u", ""] {
        let refused = store.enqueue_prompt(lane("a"), of_tenant(tenant), message("x")).await;
        assert_eq!(refused, Err(StoreError::LaneNotFound { lane: lane("a") }));
    }
    assert_eq!(store.read_inbox(lane("a"), 9).await?.len(), 1);
    let runs = store.list_runs(None, 9).await?;
    assert_eq!(runs.iter().map(|run| &*run.tenant).collect::<Vec<_>>(), ["t"]);
    Ok(())
}

/// Workers drive no more conversations of a tenant at once than its limit, together. Sub-agents do
/// not count.
pub async fn active_runs_are_limited(store: TestStore) -> CaseResult {
    let limits = TenantLimits { active_runs: Some(2), ..TenantLimits::default() };
    store.set_tenant_limits("t".into(), limits).await?;
    for nth in 0..6 {
        store.enqueue_prompt(lane(&nth.to_string()), of_tenant("t"), message("k")).await?;
    }
    let others = ["free", "5/1.0-0"];
    store.enqueue_prompt(lane("free"), of_tenant("u"), message("k")).await?;
    store.enqueue_prompt(lane("5/1.0-0"), of_tenant("t"), message("k")).await?;
    let looks = (0..4).map(|nth: u32| {
        let store = store.clone();
        tokio::spawn(async move { claim(&store, &format!("w{nth}")).await })
    });
    let mut claimed: Vec<LaneId> = Vec::new();
    for look in looks.collect::<Vec<_>>() {
        claimed.extend(look.await.map_err(|_| StoreError::Invalid { message: "panic".into() })??);
    }
    // A lane that another worker is just claiming is skipped; a later look finds it.
    claimed.extend(claim(&store, "w0").await?);
    for name in others {
        assert!(claimed.contains(&lane(name)), "{claimed:?}");
    }
    assert_eq!(claimed.len(), 4, "{claimed:?}");
    assert_eq!(claim(&store, "w9").await?, []);
    let limited = claimed.iter().find(|id| others.iter().all(|name| **id != lane(name)));
    let first = limited.cloned().unwrap_or_else(|| lane("none"));
    let owner =
        store.lane_info(first.clone()).await?.and_then(|info| Some((info.owner?, info.epoch)));
    if let Some((owner, epoch)) = owner {
        store.release_lane(first, owner, epoch).await?;
    }
    assert_eq!(claim(&store, "w9").await?.len(), 1);
    Ok(())
}
