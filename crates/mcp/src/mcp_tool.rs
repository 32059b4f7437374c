//! A tool of an MCP server behind the runtime's port.

use std::sync::Arc;

use serde_json::Value;
use windlass_core::call::call_facts::{CallFacts, Interruptibility, Repeatability};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::input_request::{
    AnsweredRequest, InputRequest, MAX_REQUESTS, RequestAnswer,
};
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::ids::LaneId;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{ContentSource, HumanAvailability};
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use crate::connection::McpError;
use crate::managed_server::ManagedServer;
use crate::ongoing_call::{CallProgress, CalledTool, OngoingCall, call_parameters};
use crate::plain_text::plain_text;
use crate::result_content::outcome_of_result;
use crate::tool_definition::{ToolAnnotations, ToolDefinition};
use crate::tool_name::qualified_tool_name;

/// A tool of an MCP server.
pub struct McpTool {
    spec: ToolSpec,
    /// The name of the tool on its server.
    remote_name: String,
    /// The hash of the definition that is offered.
    definition_hash: String,
    annotations: ToolAnnotations,
    server: Arc<ManagedServer>,
}

impl McpTool {
    pub(crate) fn new(server: Arc<ManagedServer>, definition: &ToolDefinition) -> Self {
        let spec = ToolSpec {
            name: Arc::from(qualified_tool_name(server.name(), &definition.name)),
            description: Arc::from(definition.plain_description()),
            input_schema: RawJson::encode(&definition.schema_or_any()),
        };
        let (remote_name, annotations) = (definition.name.clone(), definition.annotations);
        Self { spec, remote_name, definition_hash: definition.hash(), annotations, server }
    }

    /// Returns the name that the model calls the tool by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }
}

impl Tool for McpTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    /// A server's word grants no permission. A call that claims to read only may run beside others,
    /// and one that claims that a repetition changes nothing may be repeated; both still need
    /// approval.
    fn assess(&self, _input: &RawJson) -> CallFacts {
        let ToolAnnotations { read_only_hint, idempotent_hint } = self.annotations;
        let repeat = match idempotent_hint {
            true => Repeatability::Repeatable,
            false => Repeatability::OnceOnly,
        };
        let touches = match read_only_hint {
            true => TouchedResources::Writes(Vec::new()),
            false => TouchedResources::Exclusive,
        };
        let interrupt = match repeat {
            Repeatability::Repeatable => Interruptibility::Interruptible,
            Repeatability::OnceOnly => Interruptibility::RunsToEnd,
        };
        let timeout_ms = self.server.call_timeout_ms();
        CallFacts { touches, repeat, interrupt, timeout_ms, ..CallFacts::default() }
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async move { self.call(&context, input.read().unwrap_or_default()).await })
    }

    fn on_lane_released(&self, lane: &LaneId) {
        self.server.suspended().cancel_lane(lane);
    }

    fn needs_workspace(&self) -> bool {
        false
    }
}

impl McpTool {
    /// Calls the tool, or takes up a call that waited for an answer of the user.
    async fn call(&self, context: &CallContext, arguments: Value) -> ToolOutcome {
        let key = &context.idempotency_key;
        let mut given: Vec<AnsweredRequest> = context.answered_requests.clone();
        let mut call = match self.take_up(key, &mut given) {
            Some(call) => call,
            None if is_declined(&given) => return self.declined_outcome(),
            None => OngoingCall::start(
                self.called_tool(),
                call_parameters(&self.remote_name, arguments, key),
            ),
        };
        call.beat_with(context.heartbeat.clone());
        let mut notes = Vec::new();
        loop {
            let request = match call.next().await {
                CallProgress::Ended(Ok(result)) => {
                    context.sources.report(ContentSource::Mcp(Arc::from(self.server.name())));
                    return outcome_of_result(&result, &notes, context.files.as_deref());
                }
                CallProgress::Ended(Err(error)) => {
                    return ToolOutcome::Failed(tool_error(self.server.name(), &error));
                }
                CallProgress::Asks(request) => request,
            };
            // A call that was sent again asks what was answered already.
            if let Some(at) = given.iter().position(|answered| answered.request == request) {
                call.answer(given.swap_remove(at).answer);
                continue;
            }
            let asked = context.answered_requests.len() + notes.len();
            if can_ask_human(context) && asked < MAX_REQUESTS {
                self.server.suspend((Arc::clone(key), context.lane.clone()), call);
                return ToolOutcome::InputRequested(request);
            }
            let answer = match asked < MAX_REQUESTS {
                true => request.unattended_answer(),
                false => RequestAnswer::Declined {},
            };
            if notes.len() < MAX_REQUESTS {
                notes.push(unattended_note(&request, &answer));
            }
            call.answer(answer);
        }
    }

    /// Returns the call that waits for the last answer, answered.
    fn take_up(&self, key: &str, given: &mut Vec<AnsweredRequest>) -> Option<OngoingCall> {
        let last = given.last()?;
        let mut call = self.server.suspended().take(key)?;
        if call.asked() != Some(&last.request) {
            return None;
        }
        call.answer(last.answer.clone());
        // It has had the earlier answers, too.
        given.clear();
        Some(call)
    }

    /// The result of a call whose request was declined after its connection was lost: it is not sent
    /// again for that.
    fn declined_outcome(&self) -> ToolOutcome {
        let name = self.server.name();
        let message = format!(
            "MCP server {name}: the user declined what it asked, and it no longer waits for the answer"
        );
        let hint = "its effects are unknown: check what it did before calling it again";
        ToolOutcome::Failed(ToolError::new("mcp_declined", &message, hint))
    }

    fn called_tool(&self) -> CalledTool {
        CalledTool {
            server: Arc::downgrade(&self.server),
            remote_name: self.remote_name.clone(),
            definition_hash: self.definition_hash.clone(),
        }
    }
}

fn is_declined(given: &[AnsweredRequest]) -> bool {
    given.last().is_some_and(|last| last.answer == RequestAnswer::Declined {})
}

fn can_ask_human(context: &CallContext) -> bool {
    let settings = context.settings.as_ref();
    settings.is_some_and(|settings| settings.rules.human == HumanAvailability::Available)
}

/// Tells the model how a request to the user was answered without one.
fn unattended_note(request: &InputRequest, answer: &RequestAnswer) -> String {
    let what = match answer {
        RequestAnswer::Accepted { .. } => "it got the default values",
        RequestAnswer::Declined {} => "it was declined",
    };
    let message = plain_text(&request.message, MAX_NOTE_CHARS);
    format!("[{} asked the user: {message:?}. No one could be asked; {what}.]", request.from)
}

/// Length of a question in a note, in characters.
const MAX_NOTE_CHARS: usize = 300;

pub(crate) fn tool_error(server: &str, error: &McpError) -> ToolError {
    let (code, hint) = match error {
        McpError::ConnectionLost(_) => (
            "mcp_connection_lost",
            "its effects are unknown: check what it did before calling it again",
        ),
        McpError::Unreachable(_) | McpError::SessionExpired => {
            ("mcp_unreachable", "it had no effect; do without the tool")
        }
        McpError::Misconfigured(_) => ("mcp_misconfigured", "do without the tool"),
        McpError::NeedsLogin(_) => {
            ("mcp_needs_login", "do without the tool; the user can run `windlass mcp login`")
        }
        McpError::ToolChanged => (
            "mcp_tool_changed",
            "it had no effect; use the tools that are offered now. If it is withheld, the user can \
             look at the change and run `windlass mcp reset-approvals`",
        ),
        McpError::Refused { .. } | McpError::PagesRequired(_) => {
            ("mcp_error", "change the input or do without the tool")
        }
        McpError::Invalid(_) => ("mcp_protocol", "do without the tool"),
    };
    ToolError::new(code, &format!("MCP server {server}: {error}"), hint)
}
