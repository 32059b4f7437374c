//! One file per command; this file dispatches.

#[cfg(feature = "acp")]
mod acp;
mod agents;
mod answer;
mod approve;
mod cancel;
mod clear;
mod compact;
mod completions;
#[cfg(feature = "server")]
mod dashboard;
pub(crate) mod delete;
pub(crate) mod demo;
mod doctor;
pub(crate) mod explain;
mod fork;
mod journal;
pub(crate) mod local_commands;
mod logs;
mod man;
mod mcp;
mod models;
pub(crate) mod newest_conversation;
mod plugin;
pub(crate) mod print;
mod raw;
mod replay;
mod resume;
mod rewind;
mod runs;
pub(crate) mod sandbox;
mod scripted;
mod send_command;
#[cfg(feature = "server")]
mod serve;
mod show;
pub(crate) mod stats;
#[cfg(feature = "server")]
mod token;
mod trace;
mod trust;
mod worker;

use std::process::ExitCode;

use anyhow::Context;
use tokio::runtime::Builder;

use crate::args::{AgentArgs, CliArgs, Command, McpCommand};
use crate::config::claude::main_agent;
use crate::config::flag_resolution;
use crate::exit::OrUsageError;
#[cfg(feature = "terminal")]
use crate::interactive;
use crate::sdk_channel;
use send_command::AfterSend;

pub(crate) fn run(args: CliArgs) -> anyhow::Result<ExitCode> {
    let runtime = runtime_builder(args.command.as_ref()).enable_all().build();
    let runtime = runtime.context("could not start the async runtime")?;
    let code = runtime.block_on(dispatch(args));
    #[cfg(feature = "otel")]
    runtime.block_on(crate::trace_export::flush());
    code
}

/// Builds the tokio runtime. A conversation is driven on one thread: moving it between threads
/// costs more than the step itself. The store and the tools have threads of their own.
fn runtime_builder(command: Option<&Command>) -> Builder {
    match command {
        Some(Command::Worker(_) | Command::Scripted(_)) => Builder::new_multi_thread(),
        #[cfg(feature = "server")]
        Some(Command::Serve(_)) => Builder::new_multi_thread(),
        Some(Command::Mcp(command)) if command.is_serve() => Builder::new_multi_thread(),
        Some(_) | None => Builder::new_current_thread(),
    }
}

/// The flags of commands that drive a conversation.
fn agent_args(args: &mut CliArgs) -> Option<&mut AgentArgs> {
    match &mut args.command {
        None => Some(&mut args.print.agent),
        Some(
            Command::Resume { agent, .. }
            | Command::Answer { agent, .. }
            | Command::Cancel { agent, .. },
        ) => Some(agent),
        Some(Command::Approve(approve)) => Some(&mut approve.agent),
        Some(Command::Rewind(rewind)) => Some(&mut rewind.agent),
        Some(Command::Worker(worker)) => Some(&mut worker.agent),
        #[cfg(feature = "server")]
        Some(Command::Serve(serve)) => Some(&mut serve.agent),
        #[cfg(feature = "acp")]
        Some(Command::Acp(acp)) => Some(&mut acp.agent),
        Some(Command::Mcp(command)) => match command.as_mut() {
            McpCommand::Serve(serve) => Some(&mut serve.agent),
            _ => None,
        },
        Some(_) => None,
    }
}

async fn dispatch(mut args: CliArgs) -> anyhow::Result<ExitCode> {
    let is_prompt = args.command.is_none();
    if let Some(agent) = agent_args(&mut args) {
        flag_resolution::resolve_flags(agent).or_usage_error()?;
        if !is_prompt {
            main_agent::apply_main_agent(agent).or_usage_error()?;
        }
    }
    match args.command {
        // Boxed, because otherwise the future of every command would be as large as this one.
        None if args.print.sdk.is_channel() => Box::pin(sdk_channel::run(args.print)).await,
        #[cfg(feature = "terminal")]
        None if !args.print.print => Box::pin(interactive::run(args.print)).await,
        None => Box::pin(print::run(args.print)).await,
        Some(Command::Resume { conversation, detach, agent }) => {
            resume::run(conversation.as_deref(), &agent, AfterSend::from_detach_flag(detach)).await
        }
        #[cfg(feature = "terminal")]
        Some(Command::Attach { conversation, agent }) => {
            Box::pin(interactive::attach(conversation.as_deref(), *agent)).await
        }
        Some(Command::Answer { conversation, question, answer, text, detach, agent }) => {
            let answer = answer::parse_answer(answer, text).or_usage_error()?;
            answer::run(
                (&conversation, question),
                answer,
                &agent,
                AfterSend::from_detach_flag(detach),
            )
            .await
        }
        Some(Command::Cancel { conversation, detach, agent }) => {
            cancel::run(conversation.as_deref(), &agent, AfterSend::from_detach_flag(detach)).await
        }
        Some(Command::Runs(args)) => runs::run(&args).await,
        Some(Command::Replay(args)) => replay::run(&args).await,
        Some(Command::Demo(args)) => demo::run(&args).await,
        Some(Command::Agents(args)) => agents::run(&args),
        Some(Command::Plugin(command)) => plugin::run(command),
        Some(Command::Mcp(command)) => Box::pin(mcp::run(*command)).await,
        Some(Command::Worker(args)) => worker::run(*args).await,
        #[cfg(feature = "server")]
        Some(Command::Serve(args)) => Box::pin(serve::run(*args)).await,
        #[cfg(feature = "server")]
        Some(Command::Dashboard(args)) => dashboard::run(&args),
        #[cfg(feature = "server")]
        Some(Command::Token(args)) => token::run(&args).await,
        #[cfg(feature = "acp")]
        Some(Command::Acp(args)) => Box::pin(acp::run(*args)).await,
        Some(Command::Delete { conversation, store, json }) => {
            delete::run(&conversation, &store, json).await
        }
        Some(Command::Trust { folder, revoke }) => trust::run(&folder, revoke),
        Some(Command::Show(args)) => show::run(&args).await,
        Some(Command::Trace(args)) => trace::run(&args).await,
        Some(Command::Explain(args)) => explain::run(&args).await,
        Some(Command::Journal(args)) => journal::run(&args).await,
        Some(Command::Raw(args)) => raw::run(&args).await,
        Some(Command::Logs(args)) => logs::run(&args).await,
        Some(Command::Models(args)) => models::run(&args),
        Some(Command::Stats(args)) => stats::run(&args).await,
        Some(Command::Doctor(args)) => doctor::run(&args).await,
        Some(Command::Sandbox(command)) => sandbox::run(&command).await,
        Some(Command::Fork(args)) => fork::run(&args).await,
        Some(Command::Approve(args)) => approve::run(*args).await,
        Some(Command::Rewind(args)) => Box::pin(rewind::run(&args)).await,
        Some(Command::Compact(args)) => Box::pin(compact::run(&args)).await,
        Some(Command::Completions(args)) => completions::run(&args),
        Some(Command::Man(args)) => man::run(&args),
        Some(Command::Scripted(args)) => scripted::run(&args).await,
    }
}
