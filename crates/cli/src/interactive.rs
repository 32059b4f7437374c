//! The session: `windlass` without `-p` opens a conversation at the terminal. It is a client of the
//! facade and of the messages; closing it loses nothing.
//!
//! The parts are pure, from keys to the rows of the screen ([`session_model`], [`live_view`],
//! [`painter`]); [`session_loop`] connects them to the terminal and to the run.

mod active_run;
mod attached_session;
mod background_agents;
mod background_commands;
mod call_view;
mod command_table;
mod commands;
mod completion;
mod composer;
mod conversation_commands;
mod conversation_list;
mod conversation_view;
mod editor_program;
mod export_command;
mod folded_items;
mod key_decoder;
mod live_view;
mod mention_names;
mod notifications;
mod open_panels;
mod opening;
mod painter;
mod picker;
mod plain_session;
mod question_panel;
mod question_view;
mod report_commands;
mod resume_picker;
mod rewind_command;
mod rows;
mod session_actions;
mod session_files;
mod session_loop;
mod session_model;
mod settings_commands;
mod shell_command;
mod status_command;
mod status_line;
mod task_commands;
mod terminal_io;
mod terminal_modes;
mod text_buffer;
mod vi_keys;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Parser;

use crate::args::{AgentArgs, CliArgs, PrintArgs, ToolStatePolicy, parse_error};
use crate::config::claude::main_agent;
use crate::config::paths;
use crate::exit::OrUsageError;
use crate::inspect::id_lookup;
use crate::setup;

/// Size of a terminal that does not report it.
const DEFAULT_SIZE: (usize, usize) = (80, 24);

/// Opens a session.
pub(crate) async fn run(mut print: PrintArgs) -> anyhow::Result<ExitCode> {
    validate_args(&print).or_usage_error()?;
    main_agent::apply_main_agent(&mut print.agent).or_usage_error()?;
    if print.session.no_session_persistence {
        print.agent.tool_state = ToolStatePolicy::Discarded;
    }
    match can_draw() {
        true => Box::pin(opening::open(print)).await,
        false => Box::pin(plain_session::run(print)).await,
    }
}

/// Watches the run of any process, and answers and steers it.
pub(crate) async fn attach(id: Option<&str>, agent: AgentArgs) -> anyhow::Result<ExitCode> {
    if !can_draw() {
        bail!("windlass attach needs a terminal; windlass show and windlass logs print elsewhere");
    }
    let here = paths::resolve_folder(&agent.permissions.workspace, "--workspace")?;
    let store = setup::open_existing_store(&agent.store).await?;
    let found = id_lookup::find_target(store.as_ref(), id, &here).await?;
    let runs = store.list_runs(Some(found.lane.clone()), 1).await?;
    let folder = runs.first().and_then(|run| run.description.folder.clone());
    let mut print = CliArgs::parse_from(["windlass"]).print;
    print.resume = Some(found.lane.to_string());
    print.agent = agent;
    // Diffs are shown against the files of the run; settings of its folder decide nothing here.
    let folder = folder.map(|folder| PathBuf::from(&*folder)).filter(|folder| folder.is_dir());
    print.agent.permissions.workspace = folder.unwrap_or(here);
    print.agent.permissions.setting_sources = Some(String::new());
    print.agent.tool_state = ToolStatePolicy::Discarded;
    Box::pin(opening::attach(print)).await
}

/// Whether the terminal can be drawn on: otherwise lines are read and printed.
fn can_draw() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_dumb
}

fn validate_args(print: &PrintArgs) -> anyhow::Result<()> {
    // A misspelled command is not a prompt.
    if let Some(typed) =
        print.prompt.as_deref().filter(|typed| !typed.contains(char::is_whitespace))
        && let Some(message) = parse_error::misspelled_command_message(typed)
    {
        bail!(message);
    }
    if print.detach {
        bail!("--detach needs a prompt to queue: `windlass -p \"PROMPT\" --detach`");
    }
    if print.agent.output.is_for_programs() {
        bail!("--output-format is for one prompt; add -p");
    }
    if print.fork_session && print.resume.is_none() && !print.continue_newest {
        bail!("--fork-session needs a conversation; name it with --resume ID or --continue");
    }
    Ok(())
}

/// Columns and rows of the terminal.
fn terminal_size() -> (usize, usize) {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let size = size.map(|size| (usize::from(size.ws_col), usize::from(size.ws_row)));
    size.filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or(DEFAULT_SIZE)
}
