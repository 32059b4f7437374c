//! Approvals: what a program is asked, and what it can answer.

use std::sync::Arc;

use serde_json::Value;
use windlass_core::call::call_state::{AskReason, Call};
use windlass_core::call::input_request::InputRequest;
use windlass_core::log::ids::LaneId;
use windlass_core::log::inbox::HumanAnswer;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{
    CallEffect, HookPreference, PermissionQuery, PermissionRule, suggest_rule,
};
use windlass_core::run::conversation::Conversation;
use windlass_core::run::question::{Question, QuestionKind};
use windlass_runtime::ports::BoxFuture;

/// A function that answers approval requests.
pub(super) type ApprovalCallback =
    Arc<dyn Fn(ApprovalRequest) -> BoxFuture<'static, Approval> + Send + Sync>;

/// What a program is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRequest {
    /// What kind of decision it is.
    pub kind: ApprovalKind,
    /// The name of the tool; empty if the request is not about a call.
    pub tool_name: String,
    /// The arguments of the call.
    pub input: Value,
    /// The provider's id of the call.
    pub tool_use_id: String,
    /// The rule that [`Approval::AllowAlways`] would add, if there is one that covers this call and
    /// as little else as possible.
    pub suggested_rule: Option<String>,
    /// The conversation that asks: that of the program, or the one of a sub-agent.
    pub session_id: String,
    /// Whether a sub-agent asks.
    pub is_sub_agent: bool,
}

/// What kind of decision is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalKind {
    /// May this call run?
    Call,
    /// The process ended while this call ran, and it is not known whether it took effect.
    /// [`Approval::Allow`] runs it again, [`Approval::Deny`] leaves it.
    InterruptedCall,
    /// The model asks a question; answer with [`Approval::Answer`].
    Question,
    /// A tool, such as that of a server, asks in the middle of a call: [`Approval::AllowWith`] or
    /// [`Approval::Answer`] fill in its form, [`Approval::Allow`] sends the default values or says
    /// that the page was opened, and [`Approval::Deny`] declines.
    ToolRequest {
        /// What it asks for.
        request: InputRequest,
    },
    /// May the work start as the plan says?
    Plan {
        /// The plan, in Markdown.
        plan: String,
    },
    /// May the run continue: after a limit, with a changed prompt, or in spite of a doubt?
    Continue {
        /// Why the run stopped.
        reason: String,
    },
}

/// The answer to an [`ApprovalRequest`].
#[derive(Debug, Clone, PartialEq)]
pub enum Approval {
    /// The call runs.
    Allow,
    /// The call runs, and so do calls like it in this conversation. The answer to a plan: edits
    /// of files need no further approval.
    AllowAlways,
    /// The call runs with these arguments instead.
    AllowWith(Value),
    /// The call does not run; the model reads the reason.
    Deny(String),
    /// The answer to a question of the model.
    Answer(String),
}

impl Approval {
    /// Denies with a reason that the model reads.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny(reason.into())
    }
}

impl ApprovalRequest {
    /// Describes a question of a conversation.
    pub(super) fn from_question(lane: &LaneId, question: &Question, now: &Conversation) -> Self {
        let call = question.kind.call().and_then(|id| now.call(id));
        let tool = |field: fn(&Call) -> String| call.map(field).unwrap_or_default();
        Self {
            kind: ApprovalKind::from_question(&question.kind),
            tool_name: tool(|call| call.tool_use.name.to_string()),
            input: call.and_then(|call| call.tool_use.input.read().ok()).unwrap_or_default(),
            tool_use_id: tool(|call| call.tool_use.id.to_string()),
            suggested_rule: call.and_then(|call| rule_for(call, now)).map(|rule| rule.to_string()),
            session_id: lane.session_id().to_owned(),
            is_sub_agent: now.parent.is_some(),
        }
    }
}

impl ApprovalKind {
    fn from_question(kind: &QuestionKind) -> Self {
        match kind {
            QuestionKind::Approval { .. } => Self::Call,
            QuestionKind::Uncertain { .. } => Self::InterruptedCall,
            QuestionKind::ModelQuestion { .. } => Self::Question,
            QuestionKind::ToolRequest { request, .. } => {
                Self::ToolRequest { request: request.clone() }
            }
            QuestionKind::Plan { plan, .. } => Self::Plan { plan: plan.to_string() },
            QuestionKind::Guidance { question, .. } => {
                Self::Continue { reason: question.to_string() }
            }
            QuestionKind::Budget { cap } => {
                Self::Continue { reason: windlass_messages::stop_reason(*cap).to_owned() }
            }
            QuestionKind::PromptChanged { changes } => {
                Self::Continue { reason: changes.to_string() }
            }
        }
    }
}

/// The rule that would allow this call without a question.
fn rule_for(call: &Call, now: &Conversation) -> Option<PermissionRule> {
    // A hook that wants to be asked every time is not to be silenced by a rule.
    if call.ask_reason.as_ref().is_some_and(AskReason::is_hook) {
        return None;
    }
    let rules = &now.settings.as_ref()?.rules;
    let effect =
        if call.facts.is_read_only() { CallEffect::ReadOnly } else { CallEffect::MayChange };
    let query = PermissionQuery {
        tool: &call.tool_use.name,
        subject: &call.facts.subject,
        effect,
        preference: HookPreference::Neutral,
        grants: &now.grants,
    };
    suggest_rule(rules, query)
}

/// Returns the recorded answer to a question. An approval is bound to the arguments that were shown.
pub(super) fn to_answer(
    approval: Approval,
    question: &Question,
    now: &Conversation,
) -> HumanAnswer {
    match &question.kind {
        QuestionKind::Approval { .. } => answer_call(approval, question, now),
        QuestionKind::Plan { .. } => match approval {
            Approval::Deny(reason) => HumanAnswer::deny(reason),
            // The plan is executed in the mode that accepts edits.
            Approval::AllowAlways => HumanAnswer::Continue {},
            _ => HumanAnswer::allow(),
        },
        QuestionKind::Uncertain { .. } => match approval {
            Approval::Deny(_) => HumanAnswer::Abandon {},
            Approval::Answer(text) => HumanAnswer::MarkDone { text: text.into() },
            Approval::AllowWith(input) => {
                HumanAnswer::allow().with_changed_input(RawJson::encode(&input))
            }
            Approval::Allow | Approval::AllowAlways => HumanAnswer::Retry {},
        },
        QuestionKind::ModelQuestion { .. } => match approval {
            Approval::Answer(text) => HumanAnswer::Text { text: text.into() },
            Approval::AllowWith(value) => HumanAnswer::Text { text: value.to_string().into() },
            Approval::Deny(reason) => HumanAnswer::deny(reason),
            Approval::Allow | Approval::AllowAlways => HumanAnswer::deny("no answer was given"),
        },
        QuestionKind::ToolRequest { .. } => match approval {
            Approval::Answer(text) => HumanAnswer::Text { text: text.into() },
            Approval::AllowWith(value) => HumanAnswer::Text { text: value.to_string().into() },
            Approval::Deny(reason) => HumanAnswer::deny(reason),
            Approval::Allow | Approval::AllowAlways => HumanAnswer::Continue {},
        },
        QuestionKind::Guidance { .. } => match approval {
            Approval::Answer(text) => HumanAnswer::Text { text: text.into() },
            Approval::Deny(_) => HumanAnswer::Abandon {},
            _ => HumanAnswer::Continue {},
        },
        QuestionKind::Budget { .. } | QuestionKind::PromptChanged { .. } => match approval {
            Approval::Deny(_) => HumanAnswer::Abandon {},
            _ => HumanAnswer::Continue {},
        },
    }
}

fn answer_call(approval: Approval, question: &Question, now: &Conversation) -> HumanAnswer {
    let call = question.kind.call().and_then(|id| now.call(id));
    let bound = |answer: HumanAnswer| match question.kind.call().and_then(|id| now.input_hash(id)) {
        Some(hash) => answer.for_input_hash(&hash),
        None => answer,
    };
    match approval {
        Approval::Allow => bound(HumanAnswer::allow()),
        Approval::AllowAlways => bound(match call.and_then(|call| rule_for(call, now)) {
            Some(rule) => HumanAnswer::allow_with_rule(rule),
            None => HumanAnswer::allow(),
        }),
        Approval::AllowWith(input) => {
            bound(HumanAnswer::allow().with_changed_input(RawJson::encode(&input)))
        }
        Approval::Deny(reason) | Approval::Answer(reason) => HumanAnswer::deny(reason),
    }
}
