//! The tool port.

use std::path::PathBuf;
use std::sync::Arc;

use super::{BoxFuture, CallHeartbeat, ProgressReporter, SourceReporter};
use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::input_request::AnsweredRequest;
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::ids::{CallId, LaneId};
use windlass_core::log::input::{ContextNote, ProbeResult};
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{CallSubject, CommandAccess};
use windlass_core::settings::conversation_settings::{Settings, ToolSpec};

/// A tool that the model can call. Dropping the future of `run` aborts the call: a tool that holds
/// processes must end them then.
pub trait Tool: Send + Sync + 'static {
    /// Returns the tool's name, description and input schema, as they are offered to the model.
    fn spec(&self) -> ToolSpec;

    /// Returns the facts of a call before it runs: whether the input is valid, what the call
    /// touches, whether it may be repeated. Must be fast and without side effects.
    fn assess(&self, input: &RawJson) -> CallFacts;

    /// Returns the facts of a call like [`Tool::assess`], with the state that the tool keeps for
    /// the conversation on `lane`, such as the folder of its shell.
    fn assess_in_lane(&self, _lane: &LaneId, input: &RawJson) -> CallFacts {
        self.assess(input)
    }

    /// Returns the facts of a call like [`Tool::assess_in_lane`], for a run with these settings,
    /// such as folders that were added to the workspace while the conversation went on.
    fn assess_in_run(&self, lane: &LaneId, _run: &Settings, input: &RawJson) -> CallFacts {
        self.assess_in_lane(lane, input)
    }

    /// Runs the call.
    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome>;

    /// Returns context for the model that belongs to what a call touched, such as the instructions
    /// for work in a folder. Called after [`Tool::run`] and recorded with its outcome; context from
    /// a source that the conversation has already is dropped. Must be fast.
    fn context_after(&self, _context: &CallContext, _input: &RawJson) -> Vec<ContextNote> {
        Vec::new()
    }

    /// Finds out whether a call that was interrupted took effect.
    fn probe(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ProbeResult> {
        Box::pin(std::future::ready(ProbeResult::Unknown {}))
    }

    /// Returns whether the tool works in the folder of the process. Conversations whose tools all
    /// return `false` are driven by any worker; the others only where their workspace is.
    fn needs_workspace(&self) -> bool {
        true
    }

    /// This process no longer drives the conversation on `lane`: the tool must end whatever runs
    /// for it. Not called when the conversation is only parked.
    fn on_lane_released(&self, _lane: &LaneId) {}
}

/// Keeps files beside the result of a call, where the model can name them.
pub trait ResultFiles: std::fmt::Debug + Send + Sync + 'static {
    /// Keeps the bytes in a file whose name ends with the suffix; returns its path, or `None` if
    /// they cannot be kept.
    fn keep(&self, suffix: &str, bytes: &[u8]) -> Option<PathBuf>;
}

/// What a tool gets to know about a call.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The lane of the conversation.
    pub lane: LaneId,
    /// The id of the call.
    pub call: CallId,
    /// The idempotency key of the call for external systems: equal for every attempt.
    pub idempotency_key: Arc<str>,
    /// The number of this attempt, from 1.
    pub attempt: u32,
    /// The subject on which the permission decision was based. A tool whose input names files can
    /// check again whether they are still the same.
    pub subject: CallSubject,
    /// The settings of the run that the call belongs to: its rules may differ from those of the
    /// process.
    pub settings: Option<Arc<Settings>>,
    /// What the tool asked the user in earlier attempts of the call, with the answers.
    pub answered_requests: Vec<AnsweredRequest>,
    /// Keeps data of the result that the model cannot read.
    pub files: Option<Arc<dyn ResultFiles>>,
    /// The heartbeat with which a long call reports that it is still working.
    pub heartbeat: CallHeartbeat,
    /// Takes live output and progress of the call, for readers that want to see them.
    pub progress: ProgressReporter,
    /// What a command gets beyond, or beneath, the policy of the sandbox.
    pub access: CommandAccess,
    /// Takes where content of the result came from that others wrote.
    pub sources: SourceReporter,
}
