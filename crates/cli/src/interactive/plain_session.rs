//! The session without drawing, for pipes and terminals without escape sequences: one prompt a
//! line, and its answer as `windlass -p` prints it.

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::process::ExitCode;

use windlass::core::settings::run_settings::RunSettings;
use windlass::ports::SessionEndReason;

use crate::args::PrintArgs;
use crate::commands::print;
use crate::exit::ExitReason;
use crate::output::{self, SignalListener};
use crate::prompt::prompt_content;
use crate::setup::{self, HostParts};
use crate::{messages, terminal};

/// Maximum bytes of a line.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// Reads prompts and prints answers until the input ends.
pub(super) async fn run(print: PrintArgs) -> anyhow::Result<ExitCode> {
    let is_asked = io::stdin().is_terminal();
    let first = match (&print.prompt, is_asked) {
        (Some(prompt), _) => Some(prompt.clone()),
        (None, true) => None,
        // Nothing is started for an empty input.
        (None, false) => match next_prompt(false).await {
            Some(line) => Some(line),
            None => {
                terminal::print_note(messages::WELCOME.trim_end());
                return Ok(ExitReason::UsageError.to_exit_code());
            }
        },
    };
    let old = print::find_named_conversation(&print).await?;
    let host = HostParts { describes_environment: true, ..HostParts::default() };
    let setup = setup::start_for_host(old.clone(), &print.agent, host).await?;
    let session = print::open_session(&print, &setup, old).await?;
    let mut next = first;
    let mut last = ExitCode::SUCCESS;
    loop {
        let prompt = match next.take() {
            Some(prompt) => prompt,
            None => match next_prompt(is_asked).await {
                Some(prompt) => prompt,
                None => break,
            },
        };
        if matches!(prompt.trim(), "/quit" | "/exit") {
            break;
        }
        let signals = SignalListener::new()?;
        let blocks = prompt_content::build(&prompt, &setup, session.lane()).await?;
        let settings = RunSettings::from_settings(&setup.settings);
        let run = session.send_with(blocks, settings).await?;
        last = output::follow_one_run(run, (&session, &setup), &print.agent, signals).await?;
    }
    session.close(SessionEndReason::Other).await;
    Ok(last)
}

/// Waits for the next line that is a prompt; `None` at the end of the input. Only then the input is
/// read: a question of a run reads its answer itself.
async fn next_prompt(is_asked: bool) -> Option<String> {
    loop {
        if is_asked {
            let mut out = io::stderr().lock();
            let _ = write!(out, "> ").and_then(|()| out.flush());
        }
        let line = tokio::task::spawn_blocking(read_line).await.ok()??;
        if !line.trim().is_empty() {
            return Some(line);
        }
    }
}

fn read_line() -> Option<String> {
    let mut bytes = Vec::new();
    let mut input = io::stdin().lock().take(MAX_LINE_BYTES);
    match input.read_until(b'\n', &mut bytes) {
        Ok(1..) => Some(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned()),
        Ok(0) | Err(_) => None,
    }
}
