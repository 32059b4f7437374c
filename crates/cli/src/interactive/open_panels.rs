//! Makes panels of the questions that a run asks, keeps them in step with the log, and sends the
//! answers.

use std::sync::Arc;

use serde_json::Value;
use windlass::core::log::ids::LaneId;
use windlass::core::log::inbox::{AnswerChannel, AnswerSource};
use windlass::core::message::content_block::ToolUse;
use windlass::core::run::active_run::Run;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::{Question, QuestionKind};

use super::active_run::ActiveRun;
use super::question_panel::{
    Choice, ChoiceMeaning, PanelAnswer, QuestionPanel, QuestionPlace, RuleScope, choices_of,
};
use super::session_loop::{SessionLoop, SessionRole};
use crate::commands::sandbox;
use crate::config::trust::folder_trust::TrustState;
use crate::config::trust::project_rules;
use crate::inspect::open_questions::{OpenQuestion, find_open_questions};
use crate::messages;
use crate::output::suggest_rule_for;
use crate::setup;
use crate::terminal::Color;

impl SessionLoop {
    /// Shows the questions of the conversation that are open now, and no others.
    pub(super) fn sync_own_panels(&mut self) {
        let Some(active) = &self.active else { return };
        let now = active.conversation();
        let open: Vec<&Question> = now.run.iter().flat_map(Run::open_questions).collect();
        let lane = self.session.lane().clone();
        let is_known = |panel: &QuestionPanel, question: &&Question| {
            panel.place.lane == lane && panel.place.id == question.id
        };
        let panels = &self.model.panels;
        let is_same = open.iter().all(|asked| panels.iter().any(|panel| is_known(panel, asked)))
            && panels
                .iter()
                .filter(|panel| panel.place.lane == lane)
                .all(|panel| open.iter().any(|asked| is_known(panel, asked)));
        if is_same {
            return;
        }
        // An answer takes a moment until the log has it.
        let is_answered = |asked: &&Question| {
            self.answered.iter().any(|place| place.lane == lane && place.id == asked.id)
        };
        let new = open.iter().filter(|asked| {
            !is_answered(asked) && !panels.iter().any(|panel| is_known(panel, asked))
        });
        let new: Vec<QuestionPanel> =
            new.map(|asked| self.build_panel(&lane, asked, now)).collect();
        let open: Vec<_> = open.iter().map(|asked| asked.id).collect();
        self.model.keep_panels(|place| place.lane != lane || open.contains(&place.id));
        self.model.add_panels(new);
    }

    /// The run waits: shows what its sub-agents ask, too.
    pub(super) async fn on_parked(&mut self) -> anyhow::Result<()> {
        self.sync_own_panels();
        let lane = self.session.lane().clone();
        let open = find_open_questions(self.setup.store.as_ref(), &lane).await?;
        self.show_questions(&open);
        // Answered while it parked.
        if self.model.panels.is_empty()
            && let Some(active) = &mut self.active
        {
            active.resume().await?;
        }
        self.plan_check();
        Ok(())
    }

    /// Shows these questions, of the conversation and of its sub-agents.
    pub(super) fn show_questions(&mut self, open: &[OpenQuestion]) {
        let new = open.iter().filter(|open| {
            let place = QuestionPlace { lane: open.lane.clone(), id: open.question.id };
            !self.answered.contains(&place)
                && !self.model.panels.iter().any(|panel| panel.place == place)
        });
        let new: Vec<QuestionPanel> = new
            .map(|open| self.build_panel(&open.lane, &open.question, &open.conversation))
            .collect();
        self.model.add_panels(new);
    }

    /// Continues the run if someone else has answered: the answer waits in the store.
    pub(super) async fn check_answers(&mut self) -> anyhow::Result<()> {
        if self.role == SessionRole::Attached {
            self.next_check = None;
            return self.sync_watched_questions().await;
        }
        if self.background_agents.is_some() {
            return self.sync_agent_questions().await;
        }
        let mut lanes: Vec<LaneId> =
            self.model.panels.iter().map(|panel| panel.place.lane.clone()).collect();
        lanes.push(self.session.lane().clone());
        lanes.dedup();
        let mut is_answered = false;
        for lane in lanes {
            is_answered |= !self.setup.store.read_inbox(lane, 1).await?.is_empty();
        }
        let head = self.active.as_ref().map(|active| active.conversation().head);
        let info = self.setup.store.lane_info(self.session.lane().clone()).await?;
        is_answered |= info.is_some_and(|info| Some(info.head) > head);
        if is_answered && let Some(active) = &mut self.active {
            active.resume().await?;
        }
        self.plan_check();
        Ok(())
    }

    fn build_panel(&self, lane: &LaneId, question: &Question, now: &Conversation) -> QuestionPanel {
        let kind = &question.kind;
        let (title, details) = messages::question_for_terminal(kind, now, &self.setup.workspace);
        let call = kind.call();
        let rule = call.and_then(|call| suggest_rule_for(now, call));
        // A rule that is kept applies in all folders below.
        let scopes = match (messages::command_folder(kind, now), self.setup.trust) {
            (Some(_), _) => &[RuleScope::Conversation][..],
            (None, TrustState::Untrusted) => &[RuleScope::Conversation, RuleScope::User],
            (None, TrustState::Trusted) => {
                &[RuleScope::Conversation, RuleScope::Project, RuleScope::User]
            }
        };
        let mut choices = choices_of(kind, rule.as_ref(), scopes);
        let tool_use = call.and_then(|call| now.call(call)).map(|call| &call.tool_use);
        let mut edited_argument = None;
        if let (QuestionKind::Approval { .. }, Some(tool_use)) = (kind, tool_use) {
            let (argument, text) = editable_input(&tool_use.input.read().unwrap_or_default());
            edited_argument = argument;
            let changed = ChoiceMeaning::AllowChanged;
            choices.push(Choice::new('e', "Yes, but changed:", changed).with_text(&text));
            let deny = Choice::new('n', "No, because:", ChoiceMeaning::Deny);
            choices.push(deny.with_typed_text());
        }
        let form = match (kind, tool_use) {
            (QuestionKind::ModelQuestion { .. }, Some(tool_use)) => {
                messages::parse_model_questions(&tool_use.input)
            }
            _ => Vec::new(),
        };
        let request = match kind {
            QuestionKind::ToolRequest { request, .. } => Some(request.clone()),
            _ => None,
        };
        let mut panel = QuestionPanel {
            place: QuestionPlace { lane: lane.clone(), id: question.id },
            title,
            details: if form.is_empty() { details } else { Vec::new() },
            choices,
            selected: 0,
            scroll: 0,
            is_editing: false,
            error: None,
            form,
            form_answers: Vec::new(),
            request,
            input_hash: call.and_then(|call| now.input_hash(call)).map(|hash| Arc::from(&*hash)),
            sandbox: self.sandbox_lines(tool_use),
            shows_sandbox: false,
            edited_argument,
        };
        match panel.form.is_empty() {
            true => panel.is_editing = panel.choices.first().is_some_and(|choice| choice.is_typed),
            false => panel.show_form_question(),
        }
        panel
    }

    /// What the sandbox would let a command do.
    fn sandbox_lines(&self, tool_use: Option<&ToolUse>) -> Vec<String> {
        let Some(tool_use) = tool_use.filter(|tool_use| &*tool_use.name == "Bash") else {
            return Vec::new();
        };
        let input: Value = tool_use.input.read().unwrap_or_default();
        let command = input.get("command").and_then(Value::as_str).unwrap_or_default();
        let (permissions, store) = (&self.print.agent.permissions, &self.print.agent.store);
        match setup::sandbox_of_folder(permissions, store) {
            Ok(folder) => {
                let choice = &folder.choice;
                let level = (choice.level.level.name(), choice.level.decided_by);
                let mut lines = vec![messages::sandbox::level_line(level.0, level.1)];
                // Above them is the command in full, and why it asks.
                let about = sandbox::command_lines(&folder, command);
                lines.extend(about.into_iter().skip(2));
                lines.extend(sandbox::policy_lines(choice));
                lines
            }
            Err(error) => vec![format!("{error:#}")],
        }
    }

    /// Sends an answer, and continues the run if it waited for it.
    pub(super) async fn send_answer(&mut self, answered: PanelAnswer) -> anyhow::Result<()> {
        if let Some((scope, rule)) = &answered.saved_rule {
            let saved = match scope {
                RuleScope::Conversation => Ok(()),
                RuleScope::Project => project_rules::save_allow_rule(&self.setup.workspace, rule),
                RuleScope::User => project_rules::save_user_allow_rule(rule),
            };
            if let Err(error) = saved {
                self.model.view.add_note(Color::Red, &format!("The rule was not saved: {error:#}"));
            }
        }
        self.answered.push(answered.place.clone());
        let source = AnswerSource::new(AnswerChannel::Terminal);
        let session = self.session.sibling(answered.place.lane.clone());
        session.answer_as(answered.place.id, answered.answer, source).await?;
        let has_run = |active: &ActiveRun| active.conversation().run.is_some();
        if answered.place.lane != *self.session.lane() && !self.active.as_ref().is_some_and(has_run)
        {
            // Nothing waits for a sub-agent in the background that would drive it.
            session.resume().await?.detach();
            if let Some(agents) = &mut self.background_agents {
                agents.resume().await?;
            }
        }
        match &mut self.active {
            Some(active) if self.model.panels.is_empty() => active.resume().await,
            Some(_) | None => Ok(()),
        }
    }
}

/// What is edited of the arguments: the main text, or all of them as JSON.
fn editable_input(input: &Value) -> (Option<(String, Value)>, String) {
    let main = input.get("command").and_then(Value::as_str);
    match main {
        Some(text) => (Some(("command".to_owned(), input.clone())), text.to_owned()),
        None => (None, serde_json::to_string(input).unwrap_or_default()),
    }
}
