//! `windlass worker`: processes queued and interrupted runs until it is told to stop.

use std::process::ExitCode;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};
use windlass::ports::ResumeOverride;
use windlass::{StoreStatus, WorkerSettings};

use crate::args::{ResumePolicyArg, WhenAsked, WorkerArgs};
use crate::{messages, setup, terminal};

/// Exit code that shells use for an interrupted program.
pub(super) const EXIT_INTERRUPTED: i32 = 130;

pub(crate) async fn run(args: WorkerArgs) -> anyhow::Result<ExitCode> {
    let WorkerArgs { mut agent, grace_seconds, resume } = args;
    // A worker has no terminal: questions are parked for `windlass answer`.
    agent.permissions.when_asked.get_or_insert(WhenAsked::Park);
    let mut terminate =
        signal(SignalKind::terminate()).context("cannot install signal handlers")?;
    let mut interrupt =
        signal(SignalKind::interrupt()).context("cannot install signal handlers")?;
    let times = WorkerSettings { resume: resume_policy(resume), ..WorkerSettings::default() };
    let setup = setup::start_for_service(&agent).await?;
    let windlass = setup.windlass.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        terminal::print_note(messages::WORKER_STOPPING);
        windlass.hand_over_within(grace_seconds.saturating_mul(1_000));
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        // A second signal ends the process at once; calls in flight are recovered as after a crash.
        std::process::exit(EXIT_INTERRUPTED);
    });
    let messages = std::sync::Arc::clone(&setup.hook_messages);
    tokio::spawn(async move {
        loop {
            terminal::print_note(&messages::hook_message(&messages.next().await));
        }
    });
    terminal::print_note(&messages::worker_started(&setup::store_path(&agent.store)?));
    let tell = |news: StoreStatus<'_>| terminal::print_note(&messages::store_status(news));
    setup.windlass.run_worker_with_observer(times, &tell).await?;
    Ok(ExitCode::SUCCESS)
}

/// The resume policy: the flag overrides what each run recorded from its profile.
pub(super) fn resume_policy(flag: Option<ResumePolicyArg>) -> ResumeOverride {
    match flag {
        Some(ResumePolicyArg::Manual) => ResumeOverride::OnRequest,
        Some(ResumePolicyArg::Automatic) => ResumeOverride::Immediately,
        None => ResumeOverride::AsRecorded,
    }
}
