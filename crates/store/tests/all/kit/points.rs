//! Dying at a crash point, and what whoever comes next must find.

use std::sync::Arc;

use windlass_runtime::ports::{Store, StoreError};

use super::{barrier, lane, letter, step};

/// What a victim does on its way to a crash point.
pub(crate) async fn suffer(store: &dyn Store) {
    store.beat(Arc::from("w")).await.unwrap();
    store.deliver(lane("a"), letter("k")).await.unwrap();
    let claim = store.claim(lane("a"), Arc::from("w"), None).await.unwrap();
    for head in 0..3 {
        let step = if head == 1 { barrier } else { step };
        store.append(step("a", claim.epoch, head, "x")).await.unwrap();
    }
    store.release(lane("a"), Arc::from("w"), claim.epoch).await.unwrap();
}

/// What must hold of a store whose user died at `point`.
pub(crate) async fn is_sound_after(point: &str, store: &dyn Store) {
    store.deliver(lane("a"), letter("k")).await.unwrap();
    assert_eq!(store.read_mail(lane("a"), 9).await.unwrap().len(), 1, "{point}");
    let head = store.lane(lane("a")).await.unwrap().unwrap().head;
    assert_eq!(store.read_log(lane("a"), 0, 9).await.unwrap().len() as u64, head, "{point}");
    let wanted = match point {
        fault if fault.starts_with("release") => 3,
        "append.after_commit" | "append.after_reply" => 1,
        _ => 0,
    };
    // After its reply the victim may get on before it dies.
    let near = point == "append.after_reply" && head >= wanted;
    assert!(head == wanted || near, "{point}: {head}");
    take(store).await;
}

/// Whoever comes next can go on.
async fn take(store: &dyn Store) {
    let dead = match store.claim(lane("a"), Arc::from("v"), None).await {
        Err(StoreError::Busy { owner, .. }) => Some(owner),
        other => return drop(other.unwrap()),
    };
    store.claim(lane("a"), Arc::from("v"), dead).await.unwrap();
}
