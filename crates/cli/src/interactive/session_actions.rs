//! What a session does: sends prompts, steers, interrupts, runs commands, and ends.

use std::process::ExitCode;
use std::time::Duration;

use windlass::core::log::ids::RunId;
use windlass::core::message::content_block::ContentBlock;
use windlass::core::settings::run_settings::RunSettings;
use windlass::ports::SessionEndReason;
use windlass::{RunOutcome, RunStream, StopCause};

use super::active_run::{ActiveRun, RunEvent};
use super::picker::PickerChoice;
use super::session_files;
use super::session_loop::{Ending, LoopSources, SessionLoop, SessionRole, write_out};
use super::session_model::SessionAction;
use super::shell_command::{ShellCommand, ShellEvent};
use crate::args::ToolStatePolicy;
use crate::exit::ExitReason;
use crate::messages;
use crate::output;
use crate::prompt::prompt_content;
use crate::setup;
use crate::terminal::{Color, sanitize_text};
use crate::transcript::TranscriptRecorder;

/// Maximum texts that go with one prompt: output of the user's commands, and ends of commands in the
/// background.
pub(super) const MAX_CONTEXT_TEXTS: usize = 20;

/// How long a run may take to stop at a step when the session ends.
const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(3);

impl SessionLoop {
    pub(super) async fn perform_actions(
        &mut self,
        sources: &mut LoopSources,
    ) -> anyhow::Result<()> {
        for action in self.model.take_actions() {
            match action {
                SessionAction::Send(text) => self.send(text).await,
                SessionAction::Steer(text) => self.steer(text).await,
                SessionAction::Command(text) => self.run_command(&text).await?,
                SessionAction::Interrupt => self.interrupt(false).await?,
                SessionAction::Abort => self.interrupt(true).await?,
                SessionAction::Leave => self.ending = Some(Ending::Left),
                SessionAction::Suspend => self.suspend(sources)?,
                SessionAction::Redraw => self.redraw()?,
                SessionAction::NextMode => self.next_mode().await?,
                SessionAction::OpenEditor => self.open_editor().await?,
                SessionAction::Pick(choice) => self.pick(choice).await?,
                SessionAction::Rewind => self.run_command("/rewind").await?,
                SessionAction::Shell(command) => self.start_shell(&command),
                SessionAction::Background => self.move_to_background(),
                SessionAction::StopShell => self.stop_shell(),
                SessionAction::Answer(answer) => self.send_answer(*answer).await?,
            }
            self.want_frame();
        }
        Ok(())
    }

    async fn send(&mut self, text: String) {
        session_files::append_history(&text);
        let settings = RunSettings::from_settings(&self.setup.settings);
        if let Err(error) = self.try_send(&text, settings).await {
            self.model.end_work();
            self.model.put_back(&text, &format!("The prompt was not sent: {error:#}"));
        }
    }

    /// Sends a prompt and follows its run.
    pub(super) async fn try_send(
        &mut self,
        text: &str,
        settings: RunSettings,
    ) -> anyhow::Result<()> {
        let mut blocks = self.prompt_blocks(text).await?;
        let context = self.model.context.iter().map(|text| ContentBlock::text(text));
        blocks.splice(0..0, context);
        if self.role == SessionRole::Attached {
            return self.leave_prompt(blocks).await;
        }
        let run = RunId::from(setup::new_id());
        let stream = self.session.send_as_with(run, blocks, settings).await?;
        self.model.context.clear();
        self.note_begun();
        self.save_draft();
        self.follow(stream).await
    }

    pub(super) async fn prompt_blocks(&self, text: &str) -> anyhow::Result<Vec<ContentBlock>> {
        prompt_content::build(text, &self.setup, self.session.lane()).await
    }

    /// Follows a run.
    pub(super) async fn follow(&mut self, stream: RunStream) -> anyhow::Result<()> {
        let before = stream.conversation_before().await?;
        if self.transcript.is_none() && self.print.agent.tool_state == ToolStatePolicy::Kept {
            self.transcript =
                TranscriptRecorder::open(&self.session, &self.setup.workspace, None).await?;
        }
        let reader = self.message_reader(before);
        self.background_agents = None;
        self.model.status.background_agents = 0;
        self.active = Some(ActiveRun::new(self.session.clone(), stream, reader));
        if self.model.working.is_none() {
            self.model.begin_work();
        }
        self.update_status();
        Ok(())
    }

    /// Continues a run that an earlier process did not finish, and prompts that wait.
    pub(super) async fn resume_unfinished(&mut self) -> anyhow::Result<bool> {
        if self.role == SessionRole::Attached {
            self.watch().await?;
            return Ok(true);
        }
        let lane = self.session.lane().clone();
        let Some(info) = self.setup.store.lane_info(lane.clone()).await? else { return Ok(false) };
        let has_mail = !self.setup.store.read_inbox(lane, 1).await?.is_empty();
        if info.active_run.is_none() && !has_mail {
            return Ok(false);
        }
        let stream = self.session.resume().await?;
        self.follow(stream).await?;
        Ok(true)
    }

    /// Does what was chosen in a list.
    async fn pick(&mut self, choice: PickerChoice) -> anyhow::Result<()> {
        let done = match choice {
            PickerChoice::Conversation(lane) => Box::pin(self.open_conversation(lane)).await,
            PickerChoice::Model(name) => self.switch_model(&name).await,
            PickerChoice::Effort(effort) => self.set_effort(effort).await,
            PickerChoice::RewindPrompt { id, text } => self.choose_rewind_scope(id, text).await,
            PickerChoice::Rewind { id, text, scope } => self.rewind_to(&id, &text, scope).await,
            PickerChoice::MemoryFile(path) => self.edit_memory_file(&path).await,
            // The model of the session does these.
            PickerChoice::QueuedPrompt(_) => Ok(()),
        };
        if let Err(error) = done {
            self.model.view.add_note(Color::Red, &format!("{error:#}"));
        }
        Ok(())
    }

    /// Starts a command of the user.
    fn start_shell(&mut self, command: &str) {
        session_files::append_history(&format!("!{command}"));
        if self.shell.is_some() {
            let text = format!("!{command}");
            return self.model.put_back(&text, "Another command is running; wait for its end.");
        }
        self.model.view.add_prompt(&format!("!{command}"));
        match ShellCommand::start(command, &self.setup.workspace) {
            Ok(shell) => {
                self.model.shell = Some((command.to_owned(), self.elapsed_ms()));
                self.shell = Some(shell);
            }
            Err(error) => {
                let text = format!("The command was not started: {error}");
                self.model.view.add_note(Color::Red, &text);
            }
        }
    }

    /// Lets the model go on while its command runs.
    fn move_to_background(&mut self) {
        let moved = self.setup.workplace.move_to_background(self.session.lane());
        if moved.is_empty() {
            let hint = "Only a command of this session that runs can move to the background.";
            self.model.hint = Some(hint.to_owned());
        }
    }

    fn stop_shell(&mut self) {
        if let Some(shell) = &self.shell {
            shell.stop();
        }
    }

    pub(super) fn on_shell_event(&mut self, event: ShellEvent) {
        match event {
            ShellEvent::Line(line) => self.model.view.add_output_line(&line),
            ShellEvent::Ended(end) => {
                self.shell = None;
                self.model.shell = None;
                if let Some(note) = end.note {
                    self.model.view.add_note(Color::Yellow, &note);
                }
                if self.model.context.len() < MAX_CONTEXT_TEXTS {
                    self.model.context.push(end.context);
                }
                self.save_draft();
            }
        }
        self.want_frame();
    }

    async fn steer(&mut self, text: String) {
        session_files::append_history(&text);
        let sent = match self.prompt_blocks(&text).await {
            Ok(blocks) => {
                let run = RunId::from(setup::new_id());
                self.session.steer_as(run, blocks).await.map_err(anyhow::Error::from)
            }
            Err(error) => Err(error),
        };
        match sent {
            Ok(()) => {
                self.model.view.add_prompt(&text);
                self.save_draft();
            }
            Err(error) => self.model.put_back(&text, &format!("The message was not sent: {error}")),
        }
    }

    async fn interrupt(&mut self, now: bool) -> anyhow::Result<()> {
        let Some(active) = &mut self.active else { return Ok(()) };
        let run = active.run();
        match now {
            true => self.session.abort(run).await?,
            false => self.session.cancel(run).await?,
        }
        // A run that waits for an answer is driven to its end.
        active.resume().await
    }

    pub(super) async fn on_rest(&mut self, outcome: RunOutcome) -> anyhow::Result<()> {
        if let RunOutcome::Parked(_) = outcome {
            return self.on_parked().await;
        }
        self.update_status();
        let before = self.model.working;
        self.model.view.end_run();
        self.report_end(&outcome).await?;
        self.active = None;
        self.answered.clear();
        self.refresh_branch();
        self.model.working = before;
        // A message that arrived too late to steer is a prompt of its own.
        if matches!(outcome, RunOutcome::Finished(_)) && self.resume_unfinished().await? {
            return Ok(());
        }
        self.model.end_work();
        self.watch_background_agents().await
    }

    /// Says why a run has no answer.
    async fn report_end(&mut self, outcome: &RunOutcome) -> anyhow::Result<()> {
        let lane = self.session.lane().clone();
        let text = match outcome {
            RunOutcome::Finished(ended) if ended.cause == StopCause::UserCancel => {
                let undone = self.model.undone.take();
                let undone = undone.map(|undone| format!(": {undone}")).unwrap_or_default();
                Some((Color::Yellow, format!("Interrupted{undone}.")))
            }
            RunOutcome::Finished(ended) => {
                let now = self.session.load_conversation().await?;
                let limit = output::reached_limit(ended, &now);
                let sentence = messages::stopped(ended, limit.as_deref(), &lane);
                sentence.map(|sentence| (Color::Red, sentence))
            }
            RunOutcome::Rejected(reason) => Some((Color::Red, messages::command_rejection(reason))),
            RunOutcome::HandedOver => {
                let text = "The run was released to another process. /resume continues it here.";
                Some((Color::Yellow, text.to_owned()))
            }
            RunOutcome::Parked(_) => None,
        };
        if let Some((color, text)) = text {
            let text = text.strip_prefix("windlass: ").unwrap_or(&text);
            self.model.view.add_note(color, text);
        }
        Ok(())
    }

    pub(super) async fn on_run_error(&mut self, error: &anyhow::Error) {
        self.active = None;
        self.model.view.add_note(Color::Red, &format!("The run cannot be followed: {error:#}"));
        self.model.end_work();
    }

    pub(super) fn refresh_branch(&mut self) {
        self.model.status.branch = session_files::git_branch(&self.setup.workspace);
    }

    fn suspend(&mut self, sources: &mut LoopSources) -> anyhow::Result<()> {
        let _ = sources;
        write_out(&self.painter.clear())?;
        self.modes.pause();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP)?;
        // Here after `fg`.
        self.modes.resume()?;
        let (columns, rows) = super::terminal_size();
        self.model.resize(columns, rows);
        self.painter.resize(columns, rows);
        Ok(())
    }

    fn redraw(&mut self) -> anyhow::Result<()> {
        write_out("\x1b[2J\x1b[H")?;
        self.painter.forget();
        Ok(())
    }

    /// Ends the session. A run in progress stops at a step, where another process can continue it.
    pub(super) async fn leave(
        mut self,
        served: anyhow::Result<Ending>,
    ) -> anyhow::Result<ExitCode> {
        let is_working = self.active.is_some() || self.background_agents.is_some();
        if self.background_agents.take().is_some() {
            self.setup.windlass.hand_over();
        }
        self.save_draft();
        if self.role == SessionRole::Attached {
            self.active = None;
        }
        if let Some(mut active) = self.active.take() {
            self.setup.windlass.hand_over();
            let rested = async {
                while let Ok(RunEvent::Messages(messages)) = active.next().await {
                    messages.iter().for_each(|message| self.model.on_message(message));
                    if active.is_parked() {
                        break;
                    }
                }
            };
            let _ = tokio::time::timeout(HAND_OVER_TIMEOUT, rested).await;
        }
        let ended = self.end_background_commands();
        let mut last = self.model.view.take_finished();
        if self.has_begun && served.is_ok() {
            last.push(String::new());
            last.extend(ended.map(|ended| super::rows::paint(Color::Dim, &sanitize_text(&ended))));
            last.extend(self.farewell(is_working));
        }
        let mut text = self.painter.paint(&last, super::painter::LiveArea::default());
        text.push_str(&self.painter.clear());
        text.push_str(self.title.restore());
        let _ = write_out(&text);
        drop(self.modes);
        self.session.close(SessionEndReason::Other).await;
        let reason = match served? {
            Ending::Left => ExitReason::Success,
            Ending::Terminated => ExitReason::Terminated,
            Ending::HungUp => ExitReason::HungUp,
        };
        Ok(reason.to_exit_code())
    }

    fn farewell(&self, is_working: bool) -> Vec<String> {
        if self.role == SessionRole::Attached {
            let text = format!("windlass attach {} shows it again.", self.session.lane());
            return vec![super::rows::paint(Color::Dim, &sanitize_text(&text))];
        }
        let what = match is_working {
            true => "The work is not finished; it continues with",
            false => "This conversation continues with",
        };
        let command = sanitize_text(&messages::option_word("--resume", self.session.lane()));
        let text = format!("{what}\n  windlass --continue    or    windlass {command}");
        text.lines().map(|line| super::rows::paint(Color::Dim, line)).collect()
    }
}
