//! Approvals: what a run asks, as permission requests to the editor.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, SessionUpdate, ToolCallContent,
    ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use serde_json::Value;
use tokio::sync::watch;
use windlass::core::call::input_request::RequestedInput;
use windlass::{Approval, ApprovalKind, ApprovalRequest};

use crate::editor::Editor;
use crate::tool_call_view::{ToolCallView, replacing_diff, text_content};

/// Maximum number of choices of a question that are offered.
const MAX_CHOICES: usize = 20;

/// How long a question waits for the call that it is about to be shown.
const SHOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// Asks the editor on behalf of a session.
#[derive(Debug, Clone)]
pub(crate) struct EditorApprovals {
    pub(crate) editor: Editor,
    pub(crate) session: String,
    pub(crate) folder: PathBuf,
    /// The calls that the editor knows.
    pub(crate) shown_calls: watch::Receiver<BTreeSet<String>>,
}

/// A choice and what it means.
struct Choice {
    id: &'static str,
    label: String,
    kind: PermissionOptionKind,
    approval: Approval,
}

impl Choice {
    fn new(id: &'static str, label: &str, kind: PermissionOptionKind, approval: Approval) -> Self {
        Self { id, label: label.to_owned(), kind, approval }
    }

    fn allow(label: &str) -> Self {
        Self::new("allow", label, PermissionOptionKind::AllowOnce, Approval::Allow)
    }

    fn always(label: &str) -> Self {
        Self::new("allow_always", label, PermissionOptionKind::AllowAlways, Approval::AllowAlways)
    }

    fn reject(label: &str, reason: &str) -> Self {
        let approval = Approval::deny(reason);
        Self::new("reject", label, PermissionOptionKind::RejectOnce, approval)
    }
}

impl EditorApprovals {
    /// Asks a question and waits for its answer. An editor that is gone never answers: the
    /// question stays open, and is asked again when the session is loaded.
    pub(crate) async fn ask(mut self, request: ApprovalRequest) -> Approval {
        self.wait_until_shown(&request.tool_use_id).await;
        if request.kind == ApprovalKind::Question {
            return self.ask_questions(&request).await;
        }
        let (title, choices) = choices_for(&request);
        let options = choices.iter().map(|choice| (choice.id.to_owned(), choice));
        let options = options
            .map(|(id, choice)| PermissionOption::new(id, choice.label.clone(), choice.kind))
            .collect();
        let selected = match self.select(&request, title, None, options).await {
            Ok(selected) => selected,
            Err(denial) => return denial,
        };
        let choice = choices.into_iter().find(|choice| choice.id == selected);
        let approval = choice.map(|choice| choice.approval);
        let approval = approval.unwrap_or_else(|| {
            Approval::deny("the editor selected an option that was not offered")
        });
        if !matches!(approval, Approval::Deny(_)) {
            self.note_started(&request).await;
        }
        approval
    }

    /// Waits until the editor knows the call, unless it was shown before this turn.
    async fn wait_until_shown(&mut self, call: &str) {
        if call.is_empty() {
            return;
        }
        let shown = self.shown_calls.wait_for(|shown| shown.contains(call));
        let _ = tokio::time::timeout(SHOWN_TIMEOUT, shown).await;
    }

    /// Shows a permission request and returns the option that was selected, or the denial.
    async fn select(
        &self,
        request: &ApprovalRequest,
        title: Option<String>,
        content: Option<ToolCallContent>,
        options: Vec<PermissionOption>,
    ) -> Result<String, Approval> {
        let call = self.call_update(request, title, content);
        let asked = RequestPermissionRequest::new(self.session.clone(), call, options);
        let answer = self.editor.ask_permission(asked).await;
        self.read_answer(answer).await
    }

    async fn read_answer(
        &self,
        answer: Result<RequestPermissionResponse, Error>,
    ) -> Result<String, Approval> {
        match answer {
            Ok(RequestPermissionResponse {
                outcome:
                    RequestPermissionOutcome::Selected(SelectedPermissionOutcome { option_id, .. }),
                ..
            }) => Ok(option_id.to_string()),
            Ok(_) => Err(Approval::deny("the user cancelled")),
            Err(_) if self.editor.is_gone() => std::future::pending().await,
            Err(error) => {
                let reason = format!("the editor could not ask for permission: {}", error.message);
                Err(Approval::Deny(reason))
            }
        }
    }

    fn call_update(
        &self,
        request: &ApprovalRequest,
        title: Option<String>,
        content: Option<ToolCallContent>,
    ) -> ToolCallUpdate {
        let view = ToolCallView::new(&request.tool_name, &request.input, &self.folder);
        let replacing = match request.tool_name.as_str() {
            "Write" => replacing_diff(&request.input, &self.folder),
            _ => None,
        };
        let mut shown = replacing.map_or(view.content, |diff| vec![diff]);
        shown.extend(content);
        let kind = if request.tool_name.is_empty() { ToolKind::Other } else { view.kind };
        let fields = ToolCallUpdateFields::new()
            .title(title.unwrap_or(view.title))
            .kind(kind)
            .status(ToolCallStatus::Pending)
            .content(shown)
            .locations(view.locations)
            .raw_input(request.input.clone());
        ToolCallUpdate::new(call_id(request), fields)
    }

    /// Shows that a call runs after it was allowed.
    async fn note_started(&self, request: &ApprovalRequest) {
        if request.tool_use_id.is_empty() {
            return;
        }
        let fields = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
        let update = ToolCallUpdate::new(request.tool_use_id.clone(), fields);
        let _ = self.editor.update(&self.session, SessionUpdate::ToolCallUpdate(update)).await;
    }

    /// Asks the questions of the model one after the other, each with its choices.
    async fn ask_questions(&self, request: &ApprovalRequest) -> Approval {
        let questions = request.input.get("questions").and_then(Value::as_array);
        let mut answers = Vec::new();
        for question in questions.into_iter().flatten() {
            let text = question.get("question").and_then(Value::as_str).unwrap_or_default();
            let labels = choice_labels(question);
            let mut options: Vec<PermissionOption> =
                labels.iter().enumerate().map(option).collect();
            let kind = PermissionOptionKind::RejectOnce;
            options.push(PermissionOption::new("reject", "Answer in the chat instead", kind));
            let content = text_content(&choice_text(question));
            let title = Some(text.to_owned());
            let selected = match self.select(request, title, content, options).await {
                Ok(selected) => selected,
                Err(denial) => return denial,
            };
            let label = selected.strip_prefix("choice-").and_then(|at| at.parse::<usize>().ok());
            match label.and_then(|at| labels.get(at)) {
                Some(label) => answers.push(format!("{text}: {label}")),
                None => {
                    return Approval::deny("the user wants to answer in the chat; end your turn");
                }
            }
        }
        match answers.is_empty() {
            true => Approval::deny("the question has no choices; ask it in your reply instead"),
            false => Approval::Answer(answers.join("\n")),
        }
    }
}

fn option((at, label): (usize, &String)) -> PermissionOption {
    PermissionOption::new(format!("choice-{at}"), label.clone(), PermissionOptionKind::AllowOnce)
}

fn choice_labels(question: &Value) -> Vec<String> {
    let options = question.get("options").and_then(Value::as_array).into_iter().flatten();
    let label = |option: &Value| match option {
        Value::String(label) => Some(label.clone()),
        option => option.get("label").and_then(Value::as_str).map(str::to_owned),
    };
    options.take(MAX_CHOICES).filter_map(label).collect()
}

/// What the model says about each choice.
fn choice_text(question: &Value) -> String {
    let options = question.get("options").and_then(Value::as_array).into_iter().flatten();
    let line = |option: &Value| {
        let text = |name: &str| option.get(name).and_then(Value::as_str);
        Some(format!("- **{}**: {}", text("label")?, text("description")?))
    };
    options.take(MAX_CHOICES).filter_map(line).collect::<Vec<_>>().join("\n")
}

/// The id of the call that a question is about; a question about the run has one of its own.
fn call_id(request: &ApprovalRequest) -> String {
    match request.tool_use_id.is_empty() {
        true => format!("question-{}", uuid::Uuid::now_v7()),
        false => request.tool_use_id.clone(),
    }
}

/// The title, if the call does not say it, and the choices.
fn choices_for(request: &ApprovalRequest) -> (Option<String>, Vec<Choice>) {
    let tool = &request.tool_name;
    match &request.kind {
        ApprovalKind::Call | ApprovalKind::Question => {
            let rule = request.suggested_rule.as_ref();
            let always = rule.map(|rule| Choice::always(&format!("Always allow {rule}")));
            let mut choices = vec![Choice::allow("Allow")];
            choices.extend(always);
            choices.push(Choice::reject("Reject", "the user rejected this call"));
            (None, choices)
        }
        ApprovalKind::ToolRequest { request } => {
            let title = format!("{} asks: {}", request.from, request.message);
            let agree = match &request.wants {
                RequestedInput::Page { .. } => Some("I opened the page"),
                RequestedInput::Form { .. } => {
                    let has_defaults = request.form().is_some_and(|form| form.fill_in("").is_ok());
                    has_defaults.then_some("Send the default values")
                }
            };
            let mut choices: Vec<_> = agree.map(Choice::allow).into_iter().collect();
            choices.push(Choice::reject("Decline", "the user declined"));
            let page = match &request.wants {
                RequestedInput::Page { url } => format!(" ({url})"),
                RequestedInput::Form { .. } => String::new(),
            };
            (Some(title + &page), choices)
        }
        ApprovalKind::InterruptedCall => {
            let title = format!(
                "{tool} was running when its process was interrupted, and it is not known whether \
                 it took effect"
            );
            let choices = vec![
                Choice::allow("Run it again"),
                Choice::reject("Leave it as it is", "the user left the call as it is"),
            ];
            (Some(title), choices)
        }
        ApprovalKind::Plan { .. } => {
            let choices = vec![
                Choice::always("Start, and accept edits"),
                Choice::allow("Start, and ask about each change"),
                Choice::reject("Keep planning", "the user wants to keep planning"),
            ];
            (Some("Start to work as the plan says?".to_owned()), choices)
        }
        ApprovalKind::Continue { reason } => {
            let choices =
                vec![Choice::allow("Continue"), Choice::reject("Stop", "the user stopped the run")];
            (Some(reason.clone()), choices)
        }
    }
}
