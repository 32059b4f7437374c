//! A question to the person at the terminal: what is asked in full, and the choices. Pure. Letters
//! and numbers only select a choice; Enter answers with it.

use std::sync::Arc;

use windlass::HumanAnswer;
use windlass::core::call::input_request::InputRequest;
use windlass::core::log::ids::{LaneId, QuestionId};
use windlass::core::permission::PermissionRule;
use windlass::core::run::question::QuestionKind;

use super::key_decoder::Key;
use super::text_buffer::TextBuffer;
use crate::config::claude::permission_settings;
use crate::messages::ModelQuestion;

/// Which question of which conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QuestionPlace {
    pub(super) lane: LaneId,
    pub(super) id: QuestionId,
}

/// Where a rule is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleScope {
    Conversation,
    Project,
    /// All folders of this user.
    User,
}

impl RuleScope {
    fn key_and_label(self) -> (char, &'static str) {
        match self {
            Self::Conversation => ('c', "Yes, and in this conversation:"),
            Self::Project => ('p', "Yes, and in this project:"),
            Self::User => ('u', "Yes, and in all folders:"),
        }
    }
}

/// What a choice means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChoiceMeaning {
    /// A fixed answer.
    Answer(HumanAnswer),
    /// Allow the call, and what a rule covers; the rule is the text of the field.
    AllowRule(RuleScope),
    /// Allow the call with the arguments in the field.
    AllowChanged,
    /// Deny with the reason in the field.
    Deny,
    /// Answer with the text in the field.
    Text,
    /// Mark the option of a form, by its number.
    Option(usize),
}

/// A choice of a panel.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    /// The key that selects it.
    pub(super) key: char,
    pub(super) label: String,
    pub(super) meaning: ChoiceMeaning,
    /// A text that belongs to it.
    pub(super) field: Option<TextBuffer>,
    /// Whether keys go to the field as soon as the choice is selected.
    pub(super) is_typed: bool,
    /// Whether it is marked, in a form with several answers.
    pub(super) is_marked: bool,
}

impl Choice {
    pub(super) fn new(key: char, label: &str, meaning: ChoiceMeaning) -> Self {
        let label = label.to_owned();
        Self { key, label, meaning, field: None, is_typed: false, is_marked: false }
    }

    /// With a text that is edited with Tab.
    pub(super) fn with_text(mut self, text: &str) -> Self {
        let mut field = TextBuffer::default();
        field.set(text);
        self.field = Some(field);
        self
    }

    /// With a text that is typed at once.
    pub(super) fn with_typed_text(mut self) -> Self {
        self.field = Some(TextBuffer::default());
        self.is_typed = true;
        self
    }
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PanelAnswer {
    pub(super) place: QuestionPlace,
    pub(super) answer: HumanAnswer,
    /// A rule to save, and where.
    pub(super) saved_rule: Option<(RuleScope, PermissionRule)>,
    /// What is said about it.
    pub(super) note: String,
}

/// What a key did to the panel.
pub(super) enum PanelKey {
    /// It was used.
    Used,
    /// The panel has no use for it.
    NotMine,
    /// The question is answered.
    Answered(Box<PanelAnswer>),
}

/// A question with its choices.
#[derive(Debug, Clone)]
pub(super) struct QuestionPanel {
    pub(super) place: QuestionPlace,
    pub(super) title: String,
    /// What is asked about, in full.
    pub(super) details: Vec<String>,
    pub(super) choices: Vec<Choice>,
    pub(super) selected: usize,
    /// The first row of the details that is shown.
    pub(super) scroll: usize,
    /// Whether keys go to the field of the selected choice.
    pub(super) is_editing: bool,
    pub(super) error: Option<String>,
    /// The questions of a form, and the answers so far.
    pub(super) form: Vec<ModelQuestion>,
    pub(super) form_answers: Vec<String>,
    /// What a tool asks for, if it does: an answer must fit it.
    pub(super) request: Option<InputRequest>,
    /// The input that was shown, which an approval is bound to.
    pub(super) input_hash: Option<Arc<str>>,
    /// What the sandbox lets the command do; shown on demand.
    pub(super) sandbox: Vec<String>,
    pub(super) shows_sandbox: bool,
    /// The name of the argument that is edited, if it is a plain text.
    pub(super) edited_argument: Option<(String, serde_json::Value)>,
}

impl QuestionPanel {
    fn choice(&self) -> Option<&Choice> {
        self.choices.get(self.selected)
    }

    fn select(&mut self, at: usize) {
        self.error = None;
        if at < self.choices.len() {
            self.selected = at;
            self.is_editing = self.choice().is_some_and(|choice| choice.is_typed);
        }
    }

    pub(super) fn on_key(&mut self, key: &Key) -> PanelKey {
        match key {
            Key::Enter => return self.confirm(),
            Key::Up => self.select(self.selected.saturating_sub(1)),
            Key::Down => self.select(self.selected + 1),
            Key::PageDown => self.scroll = self.scroll.saturating_add(10),
            Key::PageUp => self.scroll = self.scroll.saturating_sub(10),
            Key::Tab if self.choice().is_some_and(|choice| choice.field.is_some()) => {
                self.is_editing = !self.is_editing;
            }
            key if self.is_editing => return self.edit(key),
            Key::Char(' ') if self.is_multi_select() => self.toggle_mark(),
            Key::Char('s') if !self.sandbox.is_empty() => {
                self.shows_sandbox = !self.shows_sandbox;
                self.scroll = 0;
            }
            Key::Char(c) => match self.choices.iter().position(|choice| choice.key == *c) {
                Some(at) => self.select(at),
                None => return PanelKey::NotMine,
            },
            _ => return PanelKey::NotMine,
        }
        PanelKey::Used
    }

    fn edit(&mut self, key: &Key) -> PanelKey {
        self.error = None;
        let Some(field) =
            self.choices.get_mut(self.selected).and_then(|choice| choice.field.as_mut())
        else {
            return PanelKey::NotMine;
        };
        match key {
            Key::Char(c) => field.insert(c.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => field.insert(text),
            Key::Ctrl('j') => field.insert("\n"),
            Key::Backspace | Key::Ctrl('h') => field.backspace(),
            Key::Delete | Key::Ctrl('d') => field.delete_next(),
            Key::Left | Key::Ctrl('b') => field.left(),
            Key::Right | Key::Ctrl('f') => field.right(),
            Key::WordLeft => field.word_left(),
            Key::WordRight => field.word_right(),
            Key::Home | Key::Ctrl('a') => field.move_to_line_start(),
            Key::End | Key::Ctrl('e') => field.move_to_line_end(),
            Key::Ctrl('k') => field.kill_to_line_end(),
            Key::Ctrl('u') => field.kill_to_line_start(),
            Key::Ctrl('w') => field.kill_blank_word_before(),
            Key::Ctrl('_') => field.undo(),
            _ => return PanelKey::NotMine,
        }
        PanelKey::Used
    }

    fn is_multi_select(&self) -> bool {
        let asked = self.form.get(self.form_answers.len());
        asked.is_some_and(|asked| asked.multi_select == Some(true))
    }

    fn toggle_mark(&mut self) {
        if let Some(choice) = self.choices.get_mut(self.selected)
            && matches!(choice.meaning, ChoiceMeaning::Option(_))
        {
            choice.is_marked = !choice.is_marked;
        }
    }

    fn confirm(&mut self) -> PanelKey {
        let Some(choice) = self.choice().cloned() else { return PanelKey::Used };
        let text = choice.field.as_ref().map(|field| field.text().trim().to_owned());
        let text = text.unwrap_or_default();
        let answered = match &choice.meaning {
            ChoiceMeaning::Answer(answer) => Ok((answer.clone(), None)),
            ChoiceMeaning::AllowRule(scope) => self.rule_answer(*scope, &text),
            ChoiceMeaning::AllowChanged => self.changed_answer(&text),
            ChoiceMeaning::Deny => Ok((deny_answer(&text), None)),
            ChoiceMeaning::Text if text.is_empty() => Err("type an answer first".to_owned()),
            ChoiceMeaning::Text | ChoiceMeaning::Option(_) if !self.form.is_empty() => {
                return self.answer_form(&choice, &text);
            }
            ChoiceMeaning::Text => self.text_answer(&text).map(|answer| (answer, None)),
            ChoiceMeaning::Option(_) => Err("choose an answer".to_owned()),
        };
        match answered {
            Ok((answer, saved_rule)) => self.answered(answer, saved_rule),
            Err(error) => {
                self.error = Some(error);
                PanelKey::Used
            }
        }
    }

    fn text_answer(&self, text: &str) -> Result<HumanAnswer, String> {
        let answer = HumanAnswer::Text { text: text.into() };
        let checked = self.request.as_ref().map(|request| request.accept(&answer)).transpose();
        checked.map(|_| answer).map_err(|problem| crate::messages::form_problem(&problem))
    }

    fn rule_answer(
        &self,
        scope: RuleScope,
        text: &str,
    ) -> Result<(HumanAnswer, Option<(RuleScope, PermissionRule)>), String> {
        let rule = permission_settings::parse_rule(text).map_err(|error| error.to_string())?;
        let saved = (scope != RuleScope::Conversation).then(|| (scope, rule.clone()));
        Ok((self.bound(HumanAnswer::allow_with_rule(rule)), saved))
    }

    fn changed_answer(
        &self,
        text: &str,
    ) -> Result<(HumanAnswer, Option<(RuleScope, PermissionRule)>), String> {
        let input = match &self.edited_argument {
            Some((name, input)) => {
                let mut input = input.clone();
                if let Some(fields) = input.as_object_mut() {
                    fields.insert(name.clone(), serde_json::Value::from(text));
                }
                input
            }
            None => serde_json::from_str(text)
                .map_err(|error| format!("the arguments are not valid JSON: {error}"))?,
        };
        if !input.is_object() {
            return Err("the arguments must be a JSON object".to_owned());
        }
        let input = windlass::core::message::raw_json::RawJson::encode(&input);
        Ok((HumanAnswer::allow().with_changed_input(input), None))
    }

    /// Answers one question of a form; the last one answers the form.
    fn answer_form(&mut self, choice: &Choice, text: &str) -> PanelKey {
        let Some(asked) = self.form.get(self.form_answers.len()) else { return PanelKey::Used };
        let marked = self.choices.iter().filter(|choice| choice.is_marked);
        let mut labels: Vec<String> = marked.map(|choice| choice.label.clone()).collect();
        match choice.meaning {
            ChoiceMeaning::Text => labels.push(text.to_owned()),
            _ if labels.is_empty() => {
                let at = self.selected;
                labels.extend(asked.options.get(at).map(|option| option.label.clone()));
            }
            _ => {}
        }
        self.form_answers.push(labels.join(", "));
        if self.form_answers.len() < self.form.len() {
            self.show_form_question();
            return PanelKey::Used;
        }
        let text = crate::messages::join_answers(&self.form, &self.form_answers);
        self.answered(HumanAnswer::Text { text: text.into() }, None)
    }

    /// Shows the next question of the form.
    pub(super) fn show_form_question(&mut self) {
        let Some(asked) = self.form.get(self.form_answers.len()) else { return };
        let lines = asked.question_lines();
        let title = lines.first().cloned().unwrap_or_default();
        self.title = match self.form.len() {
            1 => title,
            all => format!("({} of {all}) {title}", self.form_answers.len() + 1),
        };
        let options = asked.options.iter().enumerate().map(|(at, option)| {
            let key = char::from_digit(u32::try_from(at + 1).unwrap_or(0), 10).unwrap_or('\0');
            let about = option.description.as_deref().unwrap_or_default().trim();
            let mut choice = Choice::new(key, &option.label, ChoiceMeaning::Option(at));
            if !about.is_empty() {
                choice.label = option.label.clone();
            }
            choice
        });
        self.choices = options.collect();
        self.choices.push(Choice::new('o', "Other:", ChoiceMeaning::Text).with_typed_text());
        self.select(0);
        self.scroll = 0;
    }

    fn bound(&self, answer: HumanAnswer) -> HumanAnswer {
        match &self.input_hash {
            Some(hash) => answer.for_input_hash(hash),
            None => answer,
        }
    }

    fn answered(
        &self,
        answer: HumanAnswer,
        saved_rule: Option<(RuleScope, PermissionRule)>,
    ) -> PanelKey {
        let answer = match answer.changed_input() {
            None => self.bound(answer),
            Some(_) => answer,
        };
        let note = crate::messages::answer_phrase(&answer);
        let place = self.place.clone();
        PanelKey::Answered(Box::new(PanelAnswer { place, answer, saved_rule, note }))
    }
}

fn deny_answer(reason: &str) -> HumanAnswer {
    HumanAnswer::deny(if reason.is_empty() { "the user denied the call" } else { reason })
}

/// The choices for a question that is not a form.
pub(super) fn choices_of(
    kind: &QuestionKind,
    rule: Option<&PermissionRule>,
    scopes: &[RuleScope],
) -> Vec<Choice> {
    use ChoiceMeaning::{AllowRule, Answer, Deny, Text};
    match kind {
        QuestionKind::Approval { .. } => {
            let mut choices = vec![Choice::new('y', "Yes, once", Answer(HumanAnswer::allow()))];
            if let Some(rule) = rule {
                let of_scope = |scope: &RuleScope| {
                    let (key, label) = scope.key_and_label();
                    Choice::new(key, label, AllowRule(*scope)).with_text(&rule.to_string())
                };
                choices.extend(scopes.iter().map(of_scope));
            }
            choices
        }
        QuestionKind::Plan { .. } => vec![
            Choice::new('y', "Yes, start the work", Answer(HumanAnswer::allow())),
            Choice::new(
                'e',
                "Yes, and allow edits in the folder",
                Answer(HumanAnswer::Continue {}),
            ),
            Choice::new('n', "No, change:", Deny).with_typed_text(),
        ],
        QuestionKind::Uncertain { .. } => vec![
            Choice::new('r', "It did not run: run it again", Answer(HumanAnswer::Retry {})),
            Choice::new(
                'd',
                "It ran: go on",
                Answer(HumanAnswer::MarkDone { text: "done".into() }),
            ),
            Choice::new('a', "Abandon it", Answer(HumanAnswer::Abandon {})),
        ],
        QuestionKind::ModelQuestion { .. } => {
            vec![Choice::new('o', "Answer:", Text).with_typed_text()]
        }
        QuestionKind::ToolRequest { request, .. } => match request.form() {
            Some(form) => {
                let mut choices = vec![Choice::new('o', "Answer:", Text).with_typed_text()];
                if form.fill_in("").is_ok() {
                    let defaults = Answer(HumanAnswer::Continue {});
                    choices.push(Choice::new('y', "Send the default values", defaults));
                }
                choices.push(Choice::new('n', "Decline", Answer(declined())));
                choices
            }
            None => vec![
                Choice::new('y', "I opened the page", Answer(HumanAnswer::Continue {})),
                Choice::new('n', "Decline", Answer(declined())),
            ],
        },
        QuestionKind::Guidance { .. } => vec![
            Choice::new('y', "Continue", Answer(HumanAnswer::Continue {})),
            Choice::new('o', "Say how:", Text).with_typed_text(),
            Choice::new('n', "Stop", Answer(HumanAnswer::Abandon {})),
        ],
        QuestionKind::Budget { .. } | QuestionKind::PromptChanged { .. } => vec![
            Choice::new('y', "Yes, continue", Answer(HumanAnswer::Continue {})),
            Choice::new('n', "No, stop", Answer(HumanAnswer::Abandon {})),
        ],
    }
}

fn declined() -> HumanAnswer {
    HumanAnswer::deny("the user declined")
}

#[cfg(test)]
#[path = "question_panel_tests.rs"]
mod question_panel_tests;
