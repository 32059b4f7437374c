//! Commands in the background: they live until the session or its conversation is left. Their end is
//! told to the person at once, and to the model with the next prompt.

use std::collections::BTreeSet;

use tokio::sync::watch;
use windlass::core::log::ids::LaneId;
use windlass::tools::{BackgroundCommandInfo, ToolContext};

use super::session_actions::MAX_CONTEXT_TEXTS;
use super::session_loop::SessionLoop;
use crate::terminal::{Color, sanitize_text, to_one_line};

/// Maximum characters of a command in a sentence.
const MAX_COMMAND_CHARS: usize = 80;

/// What the session knows of the commands in the background.
pub(super) struct BackgroundWatch {
    changes: watch::Receiver<u64>,
    running: BTreeSet<String>,
}

impl BackgroundWatch {
    /// Watches the commands of a process, and keeps those of this conversation.
    pub(super) fn start(tools: &ToolContext, lane: &LaneId) -> Self {
        tools.keep_background_commands(lane);
        Self { changes: tools.watch_background_commands(), running: BTreeSet::new() }
    }

    /// Waits until a command has started or ended. Nothing is lost if the future is dropped.
    pub(super) async fn changed(&mut self) {
        if self.changes.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Takes over what runs now; returns the commands that have ended since the last time.
    fn update(&mut self, known: Vec<BackgroundCommandInfo>) -> Vec<BackgroundCommandInfo> {
        let (running, ended): (Vec<_>, Vec<_>) =
            known.into_iter().partition(|command| command.is_running);
        let before = std::mem::take(&mut self.running);
        self.running = running.into_iter().map(|command| command.id).collect();
        ended.into_iter().filter(|command| before.contains(&command.id)).collect()
    }
}

impl SessionLoop {
    /// Tells which commands have ended.
    pub(super) fn on_background_change(&mut self) {
        let known = self.setup.workplace.list_background_commands(self.session.lane());
        let ended = self.background.update(known);
        self.model.status.background_commands = self.background.running.len();
        for command in ended {
            let text = to_one_line(&sanitize_text(&command.command), MAX_COMMAND_CHARS);
            let note = format!("{} has ended ({}): {text}", command.id, command.state);
            let color = match command.state.as_str() {
                "exit code 0" => Color::Dim,
                _ => Color::Yellow,
            };
            self.model.view.add_note(color, &note);
            if self.model.context.len() < MAX_CONTEXT_TEXTS {
                self.model.context.push(end_for_model(&command));
            }
            self.save_draft();
        }
        self.want_frame();
    }

    /// The conversation is left: its commands end.
    pub(super) fn end_background_commands(&mut self) -> Option<String> {
        let ended = self.setup.workplace.end_background_commands(self.session.lane());
        self.background.running.clear();
        self.model.status.background_commands = 0;
        let describe = |command: &BackgroundCommandInfo| {
            format!("{} ({})", command.id, to_one_line(&command.command, MAX_COMMAND_CHARS / 2))
        };
        let texts: Vec<String> = ended.iter().map(describe).collect();
        let commands = if texts.len() == 1 { "command" } else { "commands" };
        let text = format!("Ended the {commands} in the background: {}.", texts.join(", "));
        (!texts.is_empty()).then_some(text)
    }
}

/// What the model reads with the next prompt.
fn end_for_model(command: &BackgroundCommandInfo) -> String {
    format!(
        "The background command {} has ended: {}. Its output is in {}; TaskOutput shows it.\n$ {}",
        command.id,
        command.state,
        command.output_file.display(),
        command.command
    )
}
