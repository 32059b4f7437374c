//! `/tasks`: commands in the background and sub-agents, with the end of their output.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::bail;
use windlass::messages::sub_agent_id;
use windlass::tools::BackgroundCommandInfo;

use super::session_loop::SessionLoop;
use crate::inspect::history::ConversationHistory;
use crate::terminal::{Color, sanitize_text, to_one_line};

/// Lines and bytes at the end of an output that are shown.
const TAIL_LINES: usize = 12;
const TAIL_BYTES: u64 = 8 << 10;

/// Maximum characters of a command in the list.
const MAX_COMMAND_CHARS: usize = 80;

impl SessionLoop {
    /// Lists what runs; with an id: its output; `stop ID` ends it.
    pub(super) async fn show_tasks(&mut self, rest: &str) -> anyhow::Result<()> {
        let lane = self.session.lane().clone();
        let commands = self.setup.workplace.list_background_commands(&lane);
        if let Some(id) = rest.strip_prefix("stop ").map(str::trim) {
            return self.stop_task(id).await;
        }
        if !rest.is_empty() {
            let Some(command) = commands.iter().find(|command| command.id == rest) else {
                bail!("there is no task {rest}; /tasks lists them");
            };
            self.show_command(command);
            return Ok(());
        }
        let agents = match self.has_begun {
            true => self.session.working_children().await?,
            false => Vec::new(),
        };
        if commands.is_empty() && agents.is_empty() {
            self.add_note("No command and no sub-agent runs in the background.");
            return Ok(());
        }
        commands.iter().for_each(|command| self.show_command(command));
        for lane in agents {
            let history =
                ConversationHistory::load(self.setup.store.as_ref(), lane.clone()).await?;
            let runs = self.setup.store.list_runs(Some(lane.clone()), 1).await?;
            let prompt = runs.first().and_then(|run| run.description.prompt.clone());
            let prompt = to_one_line(prompt.as_deref().unwrap_or_default(), MAX_COMMAND_CHARS);
            let rounds = history.entries.len();
            let id = sub_agent_id(&lane);
            let line = format!("{id}  sub-agent, {rounds} entries  {prompt}");
            self.model.view.add_note(Color::Bold, &line);
        }
        self.add_note("/tasks ID shows one; /tasks stop ID ends it.");
        Ok(())
    }

    /// Lists the prompts that wait.
    pub(super) fn list_queue(&mut self) -> anyhow::Result<()> {
        if !self.model.open_queue() {
            bail!("no prompt waits; Alt-Enter queues one while the model works");
        }
        Ok(())
    }

    fn show_command(&mut self, command: &BackgroundCommandInfo) {
        let text = to_one_line(&command.command, MAX_COMMAND_CHARS);
        let line = format!("{}  {}  {text}", command.id, command.state);
        self.model.view.add_note(Color::Bold, &line);
        let tail = read_tail(&command.output_file).unwrap_or_default();
        for line in tail {
            self.add_note(&format!("    {}", sanitize_text(&line)));
        }
    }

    async fn stop_task(&mut self, id: &str) -> anyhow::Result<()> {
        let lane = self.session.lane().clone();
        if self.setup.workplace.stop_background_command(&lane, id) {
            self.add_note(&format!("{id} is asked to end."));
            return Ok(());
        }
        let agents = self.session.working_children().await?;
        match agents.into_iter().find(|lane| sub_agent_id(lane) == id) {
            Some(lane) => {
                self.session.sibling(lane).abort(None).await?;
                self.add_note(&format!("{id} is asked to end."));
                Ok(())
            }
            None => bail!("there is no task {id}; /tasks lists them"),
        }
    }
}

/// The last lines of a file.
fn read_tail(file: &Path) -> std::io::Result<Vec<String>> {
    let mut file = std::fs::File::open(file)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let first = lines.len().saturating_sub(TAIL_LINES);
    Ok(lines.into_iter().skip(first).collect())
}
