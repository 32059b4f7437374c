//! Accepting, waiting and reading.

use windlass_core::ids::Millis;
use windlass_runtime::ports::{Letter, Look, MAIL_PAGE, Reach, StoreError};

use super::material::{Subject, Verdict, append, entries, lane, letter, owned, prompt};

/// The same key again gives the first mail and changes nothing, also after it was read.
pub async fn a_key_is_one_mail(store: Subject) -> Verdict {
    let a = lane("a");
    let first = store.deliver(a.clone(), letter("k")).await?;
    let other = Letter { body: prompt("something else"), ..letter("k") };
    assert_eq!(store.deliver(a.clone(), other.clone()).await?, first);
    let waiting = store.read_mail(a.clone(), 9).await?;
    assert_eq!(waiting.iter().map(|mail| &mail.body).collect::<Vec<_>>(), [&prompt("k")]);

    let epoch = store.claim(a.clone(), "w".into(), None).await?.epoch;
    let mut read = append(&a, epoch, 0, entries("a", 1, 1));
    read.mail_read = vec![first.mail];
    store.append(read).await?;
    assert_eq!(store.deliver(a.clone(), other).await?, first);
    assert_eq!(store.read_mail(a, 9).await?, []);

    let elsewhere = store.deliver(lane("b"), letter("k")).await?;
    assert_eq!(store.read_mail(lane("b"), 9).await?.len(), 1);
    assert_eq!(elsewhere.mail, 1);
    Ok(())
}

/// Oldest first, at most as many as asked for, without what was read.
pub async fn order_and_marks(store: Subject) -> Verdict {
    let a = lane("a");
    let epoch = owned(&store, &a).await?;
    for key in ["second", "third", "fourth"] {
        store.deliver(a.clone(), letter(key)).await?;
    }
    let ids = |mails: Vec<windlass_core::mail::Mail>| {
        mails.into_iter().map(|mail| mail.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(store.read_mail(a.clone(), 2).await?), [1, 2]);
    let mut read = append(&a, epoch, 0, entries("a", 1, 1));
    read.mail_read = vec![1, 3];
    store.append(read).await?;
    assert_eq!(ids(store.read_mail(a.clone(), 9).await?), [2, 4]);
    assert_eq!(store.deliver(a.clone(), letter("fifth")).await?.mail, 5);
    assert_eq!(ids(store.read_mail(a, 9).await?), [2, 4, 5]);
    Ok(())
}

/// Whoever takes a lane is given what waits there, as whoever reads it would be.
pub async fn a_claim_brings_its_mail(store: Subject) -> Verdict {
    let (a, b) = (lane("a"), lane("b"));
    for nth in 0..MAIL_PAGE + 3 {
        store.deliver(a.clone(), letter(&nth.to_string())).await?;
    }
    let claim = store.claim(a.clone(), "w".into(), None).await?;
    assert_eq!(claim.mail, Some(store.read_mail(a.clone(), MAIL_PAGE).await?));
    let mut read = append(&a, claim.epoch, 0, entries("a", 1, 1));
    read.mail_read = claim.mail.iter().flatten().map(|mail| mail.id).collect();
    store.append(read).await?;
    store.release(a.clone(), "w".into(), claim.epoch).await?;

    store.deliver(b.clone(), letter("k")).await?;
    let look = Look { now: Millis(0), most: 9, reach: Reach::default(), except: Vec::new() };
    let mut found = store.claim_wanting("w".into(), look).await?;
    found.sort_by(|one, other| one.0.cmp(&other.0));
    let lanes: Vec<_> = found.iter().map(|(lane, _)| lane).collect();
    assert_eq!(lanes, [&a, &b]);
    for (lane, claim) in &found {
        assert_eq!(claim.mail, Some(store.read_mail(lane.clone(), MAIL_PAGE).await?), "{lane}");
    }
    let counts: Vec<_> =
        found.iter().map(|(_, claim)| claim.mail.as_ref().map_or(0, Vec::len)).collect();
    assert_eq!(counts, [3, 1]);
    Ok(())
}

/// Whoever waits is told.
pub async fn hint_after_delivery(store: Subject) -> Verdict {
    let (a, waiting) = (lane("a"), std::sync::Arc::clone(&store));
    let waiter = tokio::spawn(async move { waiting.mail_hint(lane("a")).await });
    store.deliver(a, letter("k")).await?;
    assert!(waiter.await.is_ok());
    Ok(())
}

/// Mail that came before the waiting began is not slept through.
pub async fn hint_before_waiting(store: Subject) -> Verdict {
    store.deliver(lane("a"), letter("k")).await?;
    store.mail_hint(lane("a")).await;
    let epoch = owned(&store, &lane("b")).await?;
    let mut out = append(&lane("b"), epoch, 0, entries("b", 1, 1));
    out.mail_out = vec![(lane("c"), letter("k"))];
    store.append(out).await?;
    store.mail_hint(lane("c")).await;
    Ok(())
}

/// Empty names, names with NUL and endless names never reach a table.
pub async fn bad_names_are_refused(store: Subject) -> Verdict {
    let long = "x".repeat(513);
    for name in ["", "a\0b", long.as_str()] {
        let refused = store.deliver(name.into(), letter("k")).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "lane {name:?}: {refused:?}");
        let refused = store.deliver(lane("a"), letter(name)).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "key {name:?}: {refused:?}");
        let refused = store.claim(lane("a"), name.into(), None).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "worker {name:?}: {refused:?}");
    }
    assert_eq!(store.lane(lane("a")).await?, None);
    store.deliver("x".repeat(512).into(), letter("k")).await?;
    Ok(())
}

/// Reading the mail of a lane that is not there says so.
pub async fn unknown_lane_has_no_mailbox(store: Subject) -> Verdict {
    let missing = store.read_mail(lane("a"), 9).await;
    assert_eq!(missing, Err(StoreError::NoLane { lane: lane("a") }));
    Ok(())
}
