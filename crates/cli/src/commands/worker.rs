//! `windlass worker`: drives whatever in the store wants to be driven, until it is told to stop.

use std::process::ExitCode;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};
use windlass::StoreNews;

use crate::args::{AgentArgs, WhenAsked};
use crate::{setup, show, words};

/// What a shell says of a program that was interrupted.
const EXIT_AT_ONCE: i32 = 130;

pub(crate) async fn worker(mut args: AgentArgs) -> anyhow::Result<ExitCode> {
    // Nobody sits at a worker: what must be asked waits for `windlass answer`.
    args.permissions.when_asked.get_or_insert(WhenAsked::Park);
    let mut terminate = signal(SignalKind::terminate()).context("signals cannot be received")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("signals cannot be received")?;
    let setup = setup::start(&args).await?;
    let windlass = setup.windlass.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        show::note(words::HANDING_OVER);
        windlass.hand_over();
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        // Whoever says it twice means now: what is in the air is found by the next, as after a crash.
        std::process::exit(EXIT_AT_ONCE);
    });
    show::note(&words::working(&setup::store_path(&args.store)?));
    let tell = |news: StoreNews<'_>| show::note(&words::store_news(news));
    setup.windlass.work_telling(windlass::WorkTimes::default(), &tell).await?;
    Ok(ExitCode::SUCCESS)
}
