//! One append is one change.

use windlass_core::ids::Millis;
use windlass_core::record::Durability;
use windlass_core::stop::RunState;
use windlass_runtime::ports::StoreError;

use super::material::{
    Subject, Verdict, append, entries, head, lane, letter, log, owned, prompt, run_row, written,
};

/// Entries, rows, marks, mail and the lane's own fields, at every durability.
pub async fn lands_whole(store: Subject) -> Verdict {
    for durability in [Durability::Volatile, Durability::Commit, Durability::Barrier] {
        let a = lane(&format!("{durability:?}"));
        let epoch = owned(&store, &a).await?;
        let mut all = append(&a, epoch, 0, entries("a", 1, 3));
        let run = format!("run of {a}");
        all.mail_read = vec![1];
        all.mail_out = vec![(lane("out"), letter(&run))];
        all.rows = vec![run_row(&run, RunState::Running, 7)];
        all.wake_at = Some(Millis(99));
        all.active_run = Some(run.as_str().into());
        all.durability = durability;
        store.append(all).await?;

        assert_eq!(log(&store, &a).await?, entries("a", 1, 3));
        assert_eq!(store.read_mail(a.clone(), 9).await?, []);
        assert!(
            store.read_mail(lane("out"), 9).await?.iter().any(|mail| mail.body == prompt(&run))
        );
        let runs = store.runs(Some(a.clone()), 9).await?;
        assert_eq!(
            runs.iter().map(|run| (run.state, run.at)).collect::<Vec<_>>(),
            [(RunState::Running, Millis(7))]
        );
        let known = store.lane(a).await?.map(|lane| (lane.head, lane.wake_at, lane.active_run));
        assert_eq!(known, Some((3, Some(Millis(99)), Some(run.as_str().into()))));
    }
    Ok(())
}

/// Mail that is not waiting cannot be read, and then nothing else happens either.
pub async fn refused_mail_undoes_all(store: Subject) -> Verdict {
    let a = lane("a");
    let epoch = owned(&store, &a).await?;
    for unknown in [vec![1, 2], vec![1, 1], vec![0], vec![u64::MAX]] {
        let mut bad = append(&a, epoch, 0, entries("a", 1, 1));
        bad.mail_read = unknown;
        bad.mail_out = vec![(lane("out"), letter("k"))];
        bad.rows = vec![run_row("r", RunState::Running, 7)];
        let refused = store.append(bad).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
        assert_eq!(head(&store, &a).await?, Some(0));
        assert_eq!(log(&store, &a).await?, []);
        assert_eq!(store.read_mail(a.clone(), 9).await?.len(), 1);
        assert_eq!(store.lane(lane("out")).await?, None);
        assert_eq!(store.runs(None, 9).await?, []);
    }
    store.append(append(&a, epoch, 0, entries("a", 1, 1))).await
}

/// Mail that an earlier append has read cannot be read again.
pub async fn mail_is_read_once(store: Subject) -> Verdict {
    let a = lane("a");
    let epoch = owned(&store, &a).await?;
    let read = |head| {
        let mut step = append(&a, epoch, head, entries("a", head + 1, head + 1));
        step.mail_read = vec![1];
        step
    };
    store.append(read(0)).await?;
    let refused = store.append(read(1)).await;
    assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    assert_eq!(head(&store, &a).await?, Some(1));
    assert_eq!(log(&store, &a).await?.len(), 1);
    store.append(append(&a, epoch, 1, entries("a", 2, 2))).await
}

/// Entries that do not follow the head are refused by name.
pub async fn gap_is_refused(store: Subject) -> Verdict {
    let a = lane("a");
    let epoch = owned(&store, &a).await?;
    let mut doubled = entries("a", 1, 2);
    doubled.extend(entries("a", 2, 2));
    for wrong in [entries("a", 2, 2), entries("a", 0, 1), doubled] {
        let refused = store.append(append(&a, epoch, 0, wrong)).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    }
    assert_eq!(head(&store, &a).await?, Some(0));
    Ok(())
}

/// A lane may change when it wants to be woken without writing an entry.
pub async fn without_entries(store: Subject) -> Verdict {
    let a = lane("a");
    let epoch = written(&store, &a, 2).await?;
    let mut quiet = append(&a, epoch, 2, Vec::new());
    quiet.wake_at = Some(Millis(5));
    store.append(quiet).await?;
    let known = store.lane(a.clone()).await?.map(|lane| (lane.head, lane.wake_at));
    assert_eq!(known, Some((2, Some(Millis(5)))));
    store.append(append(&a, epoch, 2, entries("a", 3, 3))).await?;
    assert_eq!(store.lane(a).await?.map(|lane| (lane.head, lane.wake_at)), Some((3, None)));
    Ok(())
}

/// A lane that gets mail from another begins with it.
pub async fn mail_out_makes_lanes(store: Subject) -> Verdict {
    let a = lane("a");
    let epoch = owned(&store, &a).await?;
    let mut out = append(&a, epoch, 0, entries("a", 1, 1));
    out.mail_out =
        vec![(lane("child"), letter("x")), (lane("child"), letter("y")), (a.clone(), letter("z"))];
    store.append(out).await?;
    let ids: Vec<_> = store.read_mail(lane("child"), 9).await?.iter().map(|mail| mail.id).collect();
    assert_eq!(ids, [1, 2]);
    assert_eq!(store.read_mail(a, 9).await?.len(), 2);
    store.claim(lane("child"), "w".into(), None).await.map(drop)
}

/// The same letter from two appends is one mail.
pub async fn mail_out_is_deduplicated(store: Subject) -> Verdict {
    let a = lane("a");
    let epoch = owned(&store, &a).await?;
    for head in 0..3 {
        let mut out = append(&a, epoch, head, entries("a", head + 1, head + 1));
        out.mail_out = vec![(lane("child"), letter("x"))];
        store.append(out).await?;
    }
    store.deliver(lane("child"), letter("x")).await?;
    assert_eq!(store.read_mail(lane("child"), 9).await?.len(), 1);
    Ok(())
}
