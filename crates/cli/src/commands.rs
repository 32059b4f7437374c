//! One file per command; this page only says which one runs.

mod answer;
mod approve;
mod cancel;
mod clear;
mod compact;
mod completions;
mod delete;
mod demo;
mod doctor;
mod explain;
mod fork;
mod journal;
mod local;
mod logs;
mod man;
mod models;
mod newest;
mod print;
mod raw;
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
use tokio::runtime::Builder;

use crate::args::{Args, Command};
use crate::exit::OrUsageError;
use sending::Then;

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let runtime = runtime(args.command.as_ref()).enable_all().build();
    runtime.context("the async runtime did not start")?.block_on(dispatch(args))
}

/// One conversation is one thread's work: handing it from thread to thread costs more than the step.
/// The store and the tools have threads of their own.
fn runtime(command: Option<&Command>) -> Builder {
    match command {
        Some(Command::Worker(_) | Command::Scripted(_)) => Builder::new_multi_thread(),
        Some(_) | None => Builder::new_current_thread(),
    }
}

async fn dispatch(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        // Boxed, because every command would keep the room for it.
        None => Box::pin(print::print(args.print)).await,
        Some(Command::Resume { conversation, detach, agent }) => {
            resume::resume(conversation.as_deref(), &agent, Then::of(detach)).await
        }
        Some(Command::Answer { conversation, question, answer, text, detach, agent }) => {
            let answer = answer::read(answer, text).or_usage_error()?;
            answer::answer((&conversation, question), answer, &agent, Then::of(detach)).await
        }
        Some(Command::Cancel { conversation, detach, agent }) => {
            cancel::cancel(conversation.as_deref(), &agent, Then::of(detach)).await
        }
        Some(Command::Runs(args)) => runs::runs(&args).await,
        Some(Command::Replay(args)) => replay::replay(&args).await,
        Some(Command::Demo(args)) => demo::demo(&args).await,
        Some(Command::Worker(args)) => worker::worker(*args).await,
        Some(Command::Delete { conversation, store, json }) => {
            delete::delete(&conversation, &store, json).await
        }
        Some(Command::Trust { folder, revoke }) => trust::trust(&folder, revoke),
        Some(Command::Show(args)) => show::show(&args).await,
        Some(Command::Trace(args)) => trace::trace(&args).await,
        Some(Command::Explain(args)) => explain::explain(&args).await,
        Some(Command::Journal(args)) => journal::journal(&args).await,
        Some(Command::Raw(args)) => raw::raw(&args).await,
        Some(Command::Logs(args)) => logs::logs(&args).await,
        Some(Command::Models(args)) => models::models(&args),
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
