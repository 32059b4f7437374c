//! The state of a session: keys and messages in, actions and the screen out. Pure: it reads no
//! clock, no file and no terminal, so that every screen can be tested without one.

use windlass::messages::{Message, SystemEvent};

use super::completion::{Candidate, Completion, CompletionKind, completed_part};
use super::composer::{Composer, Draft, KeyUse};
use super::conversation_view::ConversationView;
use super::key_decoder::Key;
use super::picker::{Picker, PickerChoice, PickerItem, PickerKey};
use super::question_panel::{PanelAnswer, PanelKey, QuestionPanel, QuestionPlace};
use super::status_line::StatusInfo;
use crate::terminal::Color;

/// How long a second Ctrl-C leaves the session.
const LEAVE_AGAIN_MS: u64 = 2_000;

/// How long keys after the appearance of a question are taken as typed before it.
const TYPE_AHEAD_MS: u64 = 300;

/// Maximum prompts that wait for the run to end.
const MAX_QUEUED: usize = 50;

/// What the session should do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SessionAction {
    /// Start a run with this prompt.
    Send(String),
    /// Give this to the run in progress.
    Steer(String),
    /// Run a slash command.
    Command(String),
    /// Stop at the next safe point.
    Interrupt,
    /// Stop what is running, too.
    Abort,
    /// End the session.
    Leave,
    /// Stop the process, as Ctrl-Z does.
    Suspend,
    /// Draw everything again.
    Redraw,
    /// Switch to the next permission mode.
    NextMode,
    /// Edit the prompt in the editor of the user.
    OpenEditor,
    /// Do what was chosen in a list.
    Pick(PickerChoice),
    /// List the prompts to go back to.
    Rewind,
    /// Run a command of the user.
    Shell(String),
    /// Move the running commands to the background.
    Background,
    /// Stop the command of the user.
    StopShell,
    /// Answer a question.
    Answer(Box<PanelAnswer>),
}

/// A run in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Working {
    pub(super) since_ms: u64,
    /// How often it was interrupted.
    pub(super) interrupts: u8,
}

/// Returns what a text could be the beginning of.
pub(super) type NameSource = Box<dyn Fn(&str) -> Vec<Candidate>>;

/// The session as its user sees it.
pub(super) struct SessionModel {
    pub(super) view: ConversationView,
    pub(super) composer: Composer,
    pub(super) status: StatusInfo,
    pub(super) working: Option<Working>,
    /// Prompts that are sent when the run has ended.
    pub(super) queue: Vec<String>,
    /// Questions that wait for an answer; the first one is shown.
    pub(super) panels: Vec<QuestionPanel>,
    /// A list to choose from.
    pub(super) picker: Option<Picker>,
    /// The command of the user that runs, and since when.
    pub(super) shell: Option<(String, u64)>,
    /// Output of the user's commands, for the next prompt.
    pub(super) context: Vec<String>,
    /// When the first question was shown: keys that were typed before do not answer it.
    panel_since_ms: u64,
    /// What could be meant by what is typed.
    pub(super) completion: Option<Completion>,
    /// Commands by their beginning, and what can be mentioned by the beginning after `@`.
    pub(super) commands: NameSource,
    pub(super) mentions: NameSource,
    /// What the interrupt has undone.
    pub(super) undone: Option<String>,
    /// A line about the last key, until the next one.
    pub(super) hint: Option<String>,
    pub(super) columns: usize,
    pub(super) screen_rows: usize,
    pub(super) now_ms: u64,
    leave_asked_ms: Option<u64>,
    /// When Esc was pressed with nothing to interrupt.
    rewind_asked_ms: Option<u64>,
    actions: Vec<SessionAction>,
}

impl SessionModel {
    pub(super) fn new((columns, screen_rows): (usize, usize), history: Vec<String>) -> Self {
        Self {
            view: ConversationView::new(columns),
            composer: Composer::new(history),
            status: StatusInfo::default(),
            working: None,
            queue: Vec::new(),
            panels: Vec::new(),
            picker: None,
            shell: None,
            context: Vec::new(),
            panel_since_ms: 0,
            completion: None,
            commands: Box::new(|_| Vec::new()),
            mentions: Box::new(|_| Vec::new()),
            undone: None,
            hint: None,
            columns,
            screen_rows,
            now_ms: 0,
            leave_asked_ms: None,
            rewind_asked_ms: None,
            actions: Vec::new(),
        }
    }

    /// What is to be done since the last time, in order.
    pub(super) fn take_actions(&mut self) -> Vec<SessionAction> {
        std::mem::take(&mut self.actions)
    }

    pub(super) fn on_message(&mut self, message: &Message) {
        if let Message::System(system) = message
            && let SystemEvent::Status { permission_mode: Some(mode), .. } = &system.event
        {
            self.status.mode.clone_from(mode);
        }
        self.view.on_message(message);
    }

    pub(super) fn resize(&mut self, columns: usize, rows: usize) {
        (self.columns, self.screen_rows) = (columns, rows);
        self.view.resize(columns);
    }

    /// A run begins.
    pub(super) fn begin_work(&mut self) {
        self.working = Some(Working { since_ms: self.now_ms, interrupts: 0 });
    }

    /// The run is over. Sends the next prompt that waits, unless the run was interrupted: then the
    /// prompts come back to be edited.
    pub(super) fn end_work(&mut self) {
        let was_interrupted = self.working.take().is_some_and(|working| working.interrupts > 0);
        self.view.end_run();
        self.panels.clear();
        if self.queue.is_empty() {
            return;
        }
        if was_interrupted {
            for text in std::mem::take(&mut self.queue).iter().rev() {
                self.composer.put_back(text);
            }
        } else {
            let next = self.queue.remove(0);
            self.send(next);
        }
    }

    pub(super) fn draft(&self) -> Draft {
        self.composer.draft(&self.queue, &self.context)
    }

    pub(super) fn restore(&mut self, draft: &Draft) {
        self.composer.restore(draft);
        self.queue.clone_from(&draft.queue);
        self.context.clone_from(&draft.context);
    }

    /// A prompt was not taken: it comes back.
    pub(super) fn put_back(&mut self, text: &str, why: &str) {
        self.composer.put_back(text);
        self.view.add_note(Color::Red, why);
    }

    pub(super) fn on_key(&mut self, key: &Key) {
        self.hint = None;
        let asked = self.leave_asked_ms.take();
        let escaped = self.rewind_asked_ms.take();
        if self.composer.is_searching() {
            self.composer.on_key(key);
            return;
        }
        if self.on_panel_key(key) || self.on_picker_key(key) {
            return;
        }
        if self.on_completion_key(key) {
            return;
        }
        match key {
            Key::BackTab => self.act(SessionAction::NextMode),
            Key::Ctrl('b') if self.composer.is_empty() && !self.view.calls.is_empty() => {
                self.act(SessionAction::Background);
            }
            Key::Ctrl('g') => self.act(SessionAction::OpenEditor),
            Key::Enter => self.on_enter(),
            Key::AltEnter => self.on_alt_enter(),
            Key::Ctrl('c') => self.on_ctrl_c(asked),
            Key::Ctrl('d') if self.composer.is_empty() => self.act(SessionAction::Leave),
            Key::Escape if self.composer.vi.as_ref().is_some_and(|vi| !vi.is_normal) => {
                self.composer.on_key(key);
            }
            Key::Escape => self.on_escape(escaped),
            Key::Ctrl('z') => self.act(SessionAction::Suspend),
            Key::Ctrl('l') => self.act(SessionAction::Redraw),
            Key::Ctrl('o') => {
                if !self.view.unfold() {
                    self.hint = Some("There is nothing more to unfold.".to_owned());
                }
            }
            Key::Up if self.composer.is_empty() && !self.queue.is_empty() => {
                if let Some(last) = self.queue.pop() {
                    self.composer.put_back(&last);
                }
            }
            key => {
                if self.composer.on_key(key) == KeyUse::Edited {
                    self.refresh_completion();
                }
            }
        }
    }

    /// Gives a key to the list that is open; returns whether there is one.
    fn on_picker_key(&mut self, key: &Key) -> bool {
        let Some(mut picker) = self.picker.take() else { return false };
        match picker.on_key(key) {
            PickerKey::Used | PickerKey::NotMine => self.picker = Some(picker),
            PickerKey::Closed => {}
            PickerKey::Chosen(PickerChoice::QueuedPrompt(text)) => {
                if self.unqueue(&text) {
                    self.composer.put_back(&text);
                }
            }
            PickerKey::Chosen(choice) => self.act(SessionAction::Pick(choice)),
            PickerKey::Removed(PickerChoice::QueuedPrompt(text)) => {
                self.unqueue(&text);
                self.open_queue();
            }
            PickerKey::Removed(_) => self.picker = Some(picker),
        }
        true
    }

    /// Takes a prompt out of the queue; returns whether it was still there.
    fn unqueue(&mut self, text: &str) -> bool {
        let at = self.queue.iter().position(|queued| queued == text);
        at.map(|at| self.queue.remove(at)).is_some()
    }

    /// Lists the prompts that wait, to edit or remove any of them; returns whether there are some.
    pub(super) fn open_queue(&mut self) -> bool {
        let item = |text: &String| PickerItem {
            label: text.clone(),
            about: String::new(),
            choice: PickerChoice::QueuedPrompt(text.clone()),
        };
        let items: Vec<PickerItem> = self.queue.iter().map(item).collect();
        if !items.is_empty() {
            let title = "Prompts that wait for the run to end. Enter edits one, Delete removes it.";
            self.picker = Some(Picker::new(title, items));
        }
        !self.queue.is_empty()
    }

    /// Looks for what could be meant by the text before the cursor.
    fn refresh_completion(&mut self) {
        self.completion = None;
        let Some((kind, from, typed)) = completed_part(self.composer.buffer.before()) else {
            return;
        };
        let candidates: Vec<Candidate> = match kind {
            CompletionKind::Command => (self.commands)(typed),
            CompletionKind::Mention => (self.mentions)(typed.trim_start_matches('@')),
        };
        if !candidates.is_empty() {
            let typed = typed.to_owned();
            self.completion = Some(Completion { kind, from, typed, candidates, selected: 0 });
        }
    }

    /// Gives a key to the completion; returns whether it was for it.
    fn on_completion_key(&mut self, key: &Key) -> bool {
        let Some(mut completion) = self.completion.take() else { return false };
        match key {
            Key::Down => completion.select_next(),
            Key::Up => completion.select_previous(),
            Key::Escape => return true,
            Key::Tab => {
                self.complete(&completion);
                self.refresh_completion();
                return true;
            }
            // A command runs at once; a path is completed first.
            Key::Enter if completion.kind == CompletionKind::Command => {
                self.complete(&completion);
                return false;
            }
            Key::Enter if !completion.is_complete() => {
                self.complete(&completion);
                return true;
            }
            _ => return false,
        }
        self.completion = Some(completion);
        true
    }

    fn complete(&mut self, completion: &Completion) {
        if let Some(chosen) = completion.chosen() {
            let is_open = chosen.text.ends_with('/') || completion.kind == CompletionKind::Command;
            let gap = if is_open { "" } else { " " };
            self.composer.buffer.replace_before(completion.from, &format!("{}{gap}", chosen.text));
        }
    }

    /// Shows further questions, after those that wait already.
    pub(super) fn add_panels(&mut self, panels: Vec<QuestionPanel>) {
        if self.panels.is_empty() && !panels.is_empty() {
            self.panel_since_ms = self.now_ms;
        }
        self.panels.extend(panels);
    }

    /// Drops questions that are answered.
    pub(super) fn keep_panels(&mut self, is_open: impl Fn(&QuestionPlace) -> bool) {
        let first = self.panels.first().map(|panel| panel.place.clone());
        self.panels.retain(|panel| is_open(&panel.place));
        if self.panels.first().map(|panel| &panel.place) != first.as_ref() {
            self.panel_since_ms = self.now_ms;
        }
    }

    /// Gives a key to the question that is shown; returns whether it was for it.
    fn on_panel_key(&mut self, key: &Key) -> bool {
        let Some(panel) = self.panels.first_mut() else { return false };
        if self.now_ms.saturating_sub(self.panel_since_ms) < TYPE_AHEAD_MS {
            // Typed for the composer, before the question was seen.
            if !matches!(key, Key::Enter | Key::AltEnter | Key::Escape | Key::Ctrl('c')) {
                self.composer.on_key(key);
            }
            return true;
        }
        match panel.on_key(key) {
            PanelKey::Used => true,
            PanelKey::NotMine => !matches!(key, Key::Escape | Key::Ctrl('c' | 'z' | 'l' | 'o')),
            PanelKey::Answered(answer) => {
                self.panels.remove(0);
                self.panel_since_ms = self.now_ms;
                self.view.add_note(Color::Dim, &format!("  your answer: {}", answer.note));
                self.act(SessionAction::Answer(answer));
                true
            }
        }
    }

    fn act(&mut self, action: SessionAction) {
        self.actions.push(action);
    }

    fn on_enter(&mut self) {
        // A backslash at the end continues the line, where a terminal has no Shift-Enter.
        if self.composer.buffer.before().ends_with('\\') && self.composer.buffer.after().is_empty()
        {
            let from = self.composer.buffer.before().len() - 1;
            self.composer.buffer.replace_before(from, "\n");
            return;
        }
        if self.composer.buffer.text().trim().is_empty() {
            return;
        }
        let text = self.composer.submit();
        self.composer.remember(&text);
        self.submit(text);
    }

    pub(super) fn submit(&mut self, text: String) {
        if text.trim_start().starts_with('/') && !text.starts_with(' ') {
            return self.act(SessionAction::Command(text));
        }
        if let Some(command) = text.strip_prefix('!').filter(|command| !command.trim().is_empty()) {
            return self.act(SessionAction::Shell(command.trim().to_owned()));
        }
        match self.working {
            Some(_) => self.act(SessionAction::Steer(text)),
            None => self.send(text),
        }
    }

    /// Sends a text that looks like a command but is none.
    pub(super) fn send_as_typed(&mut self, text: String) {
        match self.working {
            Some(_) => self.act(SessionAction::Steer(text)),
            None => self.send(text),
        }
    }

    fn send(&mut self, text: String) {
        self.begin_work();
        self.act(SessionAction::Send(text));
    }

    fn on_alt_enter(&mut self) {
        if self.working.is_none() {
            self.composer.buffer.insert("\n");
            return;
        }
        if self.composer.buffer.text().trim().is_empty() {
            return;
        }
        if self.queue.len() >= MAX_QUEUED {
            self.hint = Some("The queue is full; wait until a prompt was sent.".to_owned());
            return;
        }
        let text = self.composer.submit();
        self.composer.remember(&text);
        self.queue.push(text);
    }

    fn on_ctrl_c(&mut self, asked: Option<u64>) {
        if !self.composer.is_empty() {
            let text = self.composer.submit();
            self.composer.remember(&text);
            return;
        }
        if self.working.is_some() {
            return self.interrupt();
        }
        if self.shell.is_some() {
            return self.act(SessionAction::StopShell);
        }
        match asked {
            Some(at) if self.now_ms.saturating_sub(at) <= LEAVE_AGAIN_MS => {
                self.act(SessionAction::Leave);
            }
            _ => {
                self.leave_asked_ms = Some(self.now_ms);
                self.hint = Some("Press Ctrl-C again to leave.".to_owned());
            }
        }
    }

    fn on_escape(&mut self, before: Option<u64>) {
        if self.working.is_some() {
            return self.interrupt();
        }
        if self.shell.is_some() {
            return self.act(SessionAction::StopShell);
        }
        match (before, self.composer.is_empty()) {
            (Some(at), true) if self.now_ms.saturating_sub(at) <= LEAVE_AGAIN_MS => {
                self.act(SessionAction::Rewind);
            }
            (_, true) => {
                self.rewind_asked_ms = Some(self.now_ms);
                self.hint = Some("Press Esc again to go back to an earlier prompt.".to_owned());
            }
            (_, false) => {}
        }
    }

    pub(super) fn interrupt(&mut self) {
        let Some(working) = &mut self.working else { return };
        working.interrupts = working.interrupts.saturating_add(1);
        let running = self.view.calls.iter().map(|call| call.line.as_str()).next();
        let action = match (working.interrupts, running) {
            (1, Some(_)) => SessionAction::Interrupt,
            // A reply has no safe point but its beginning.
            _ => SessionAction::Abort,
        };
        self.undone = match (&action, running) {
            (SessionAction::Abort, Some(call)) => Some(format!("{call} was stopped")),
            (SessionAction::Abort, None) => Some("the reply in progress was discarded".to_owned()),
            _ => None,
        };
        self.act(action);
    }
}

#[cfg(test)]
#[path = "session_model_tests.rs"]
mod session_model_tests;
