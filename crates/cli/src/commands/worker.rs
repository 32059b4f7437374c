//! `windlass worker`: processes queued and interrupted runs until it is told to stop.

use std::process::ExitCode;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};
use windlass::ports::Resume;
use windlass::{StoreNews, WorkTimes};

use crate::args::{ResumePolicy, WhenAsked, WorkerArgs};
use crate::{setup, show, words};

/// What a shell says of a program that was interrupted.
const EXIT_AT_ONCE: i32 = 130;

pub(crate) async fn worker(args: WorkerArgs) -> anyhow::Result<ExitCode> {
    let WorkerArgs { mut agent, grace_seconds, resume } = args;
    // Nobody sits at a worker: what must be asked waits for `windlass answer`.
    agent.permissions.when_asked.get_or_insert(WhenAsked::Park);
    let mut terminate = signal(SignalKind::terminate()).context("signals cannot be received")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("signals cannot be received")?;
    let times = WorkTimes { resume: policy(resume), ..WorkTimes::default() };
    let setup = setup::start(&agent).await?;
    let windlass = setup.windlass.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        show::note(words::HANDING_OVER);
        windlass.hand_over_within(grace_seconds.saturating_mul(1_000));
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        // Whoever says it twice means now: what is in the air is found by the next, as after a crash.
        std::process::exit(EXIT_AT_ONCE);
    });
    let messages = std::sync::Arc::clone(&setup.hook_messages);
    tokio::spawn(async move {
        loop {
            show::note(&words::hook_message(&messages.next().await));
        }
    });
    show::note(&words::working(&setup::store_path(&agent.store)?));
    let tell = |news: StoreNews<'_>| show::note(&words::store_news(news));
    setup.windlass.work_telling(times, &tell).await?;
    Ok(ExitCode::SUCCESS)
}

/// The flag counts more than what was recorded with each run, from its profile.
fn policy(flag: Option<ResumePolicy>) -> Resume {
    match flag {
        Some(ResumePolicy::Manual) => Resume::Offered,
        Some(ResumePolicy::Automatic) => Resume::AtOnce,
        None => Resume::AsRecorded,
    }
}
