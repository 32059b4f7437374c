//! One file per command; this page only says which one runs.

mod answer;
mod approve;
mod cancel;
mod compact;
mod completions;
mod demo;
mod doctor;
mod explain;
mod fork;
mod logs;
mod man;
mod print;
mod replay;
mod resume;
mod runs;
mod scripted;
mod sending;
mod show;
mod stats;
mod trace;
mod trust;
mod worker;

use std::process::ExitCode;

use anyhow::Context;

use crate::args::{Args, Command};
use sending::Then;

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the async runtime did not start")?;
    runtime.block_on(dispatch(args))
}

async fn dispatch(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        None => print::print(args.print).await,
        Some(Command::Resume { conversation, detach, agent }) => {
            resume::resume(&conversation, &agent, Then::of(detach)).await
        }
        Some(Command::Answer { conversation, question, answer, text, detach, agent }) => {
            let answer = answer::read(answer, text)?;
            answer::answer((&conversation, question), answer, &agent, Then::of(detach)).await
        }
        Some(Command::Cancel { conversation, detach, agent }) => {
            cancel::cancel(&conversation, &agent, Then::of(detach)).await
        }
        Some(Command::Runs { store, json }) => runs::runs(&store, json).await,
        Some(Command::Replay(args)) => replay::replay(&args).await,
        Some(Command::Demo) => demo::demo().await,
        Some(Command::Worker(agent)) => worker::worker(*agent).await,
        Some(Command::Trust { folder, revoke }) => trust::trust(&folder, revoke),
        Some(Command::Show(args)) => show::show(&args).await,
        Some(Command::Trace(args)) => trace::trace(&args).await,
        Some(Command::Explain(args)) => explain::explain(&args).await,
        Some(Command::Logs(args)) => logs::logs(&args).await,
        Some(Command::Stats(args)) => stats::stats(&args).await,
        Some(Command::Doctor(args)) => doctor::doctor(&args).await,
        Some(Command::Fork(args)) => fork::fork(&args).await,
        Some(Command::Approve(args)) => approve::approve(*args).await,
        Some(Command::Compact(args)) => compact::compact(&args).await,
        Some(Command::Completions(args)) => completions::completions(&args),
        Some(Command::Man(args)) => man::man(&args),
        Some(Command::Scripted(args)) => scripted::scripted(&args).await,
    }
}
