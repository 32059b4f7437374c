//! Tool calls, probes of interrupted calls, and the hooks around them.

#[cfg(test)]
#[path = "tool_calls_tests.rs"]
mod tool_calls_tests;

use std::sync::Arc;

use tokio::task::AbortHandle;
use windlass_core::call::call_state::CallState;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::ids::{CallId, UnixMillis};
use windlass_core::log::input::{ContextNote, HookDecision, Input, ProbeResult};
use windlass_core::message::content_block::ToolUse;
use windlass_core::message::raw_json::sha256_hex;
use windlass_core::permission::{CallSubject, ContentSource, PathAccess, PathUse, PathZone};
use windlass_core::run::active_run::{EarlyCall, Run};
use windlass_core::run::conversation::Conversation;

use super::EffectRunner;
use super::live_progress::{ReportedCall, publish_progress};
use crate::adapter_guard::{catch_panic, with_timeout};
use crate::ports::{
    CallContext, CallHeartbeat, Clock, HookResponse, ProgressReporter, SourceReporter, Tool,
};

/// A call that is ready to run.
struct PreparedCall {
    tool: Arc<dyn Tool>,
    context: CallContext,
    tool_use: ToolUse,
    timeout_ms: u64,
}

impl EffectRunner {
    pub(super) fn run_tool(
        &self,
        conversation: &Conversation,
        id: CallId,
        attempt: u32,
    ) -> Option<AbortHandle> {
        let (tool_use, time_ms) = call_to_run(conversation, id)?;
        let Some(ready) = self.prepare_call(conversation, id, attempt, tool_use, time_ms) else {
            return self.spawn_effect(std::future::ready(missing_tool_result(
                self.agent.ports.clock.now(),
                id,
                attempt,
            )));
        };
        let clock = Arc::clone(&self.agent.ports.clock);
        let (semaphore, lane) = (self.tool_semaphore.clone(), self.lane.clone());
        let (readers, progress) = (self.readers(), ready.context.progress.clone());
        let (sources, subject) = (ready.context.sources.clone(), ready.context.subject.clone());
        self.spawn_effect(async move {
            let _turn = match semaphore {
                Some(semaphore) => Some(semaphore.acquire(&lane).await),
                None => None,
            };
            let started_at = clock.now();
            let reported = ReportedCall { call: id, started_at, progress };
            let (outcome, context) = tokio::select! {
                biased;
                returned = run_with_timeout(ready, clock.as_ref()) => returned,
                never = publish_progress(reported, readers, clock.as_ref()) => match never {},
            };
            report_outside_files(&subject, &outcome, &sources);
            let untrusted = sources.reported();
            Input::ToolReturned { call: id, attempt, started_at, outcome, context, untrusted }
        })
    }

    fn prepare_call(
        &self,
        conversation: &Conversation,
        id: CallId,
        attempt: u32,
        tool_use: ToolUse,
        timeout_ms: u64,
    ) -> Option<PreparedCall> {
        let tool = self.agent.ports.tools.get(&tool_use.name)?;
        let run = conversation.run.as_ref().map_or("", |run| run.id.as_str());
        let idempotency_key = idempotency_key(run, id, &tool_use);
        let (lane, heartbeat) = (self.lane.clone(), CallHeartbeat::default());
        let progress = ProgressReporter::default();
        let subject = authorized_subject(conversation, id);
        let access = conversation.command_access(&subject);
        let settings = conversation.settings.clone();
        let answered_requests =
            conversation.call(id).map(|call| call.answered_requests.clone()).unwrap_or_default();
        let context = CallContext {
            lane,
            call: id,
            idempotency_key,
            attempt,
            subject,
            settings,
            answered_requests,
            files: None,
            heartbeat,
            progress,
            access,
            sources: SourceReporter::default(),
        };
        Some(PreparedCall { tool, context, tool_use, timeout_ms })
    }

    pub(super) fn probe_call(
        &self,
        conversation: &Conversation,
        id: CallId,
    ) -> Option<AbortHandle> {
        let call = conversation.call(id)?;
        let (tool_use, timeout_ms) = (call.tool_use.clone(), call.facts.timeout_ms);
        let ready = self.prepare_call(conversation, id, call.attempts, tool_use, timeout_ms);
        let clock = Arc::clone(&self.agent.ports.clock);
        self.spawn_effect(async move {
            let result = match ready {
                Some(ready) => probe_with_timeout(ready, clock.as_ref()).await,
                None => ProbeResult::Unknown {},
            };
            Input::CallProbed { call: id, result }
        })
    }

    pub(super) fn run_pre_hook(
        &self,
        conversation: &Conversation,
        id: CallId,
    ) -> Option<AbortHandle> {
        let call = conversation.call(id)?.clone();
        let (context, lane) = (self.hook_context(conversation), self.lane.clone());
        let settings = conversation.settings.clone()?;
        let tool_use = call.tool_use.clone();
        let (hooks, tools) = (Arc::clone(&self.agent.ports.hooks), self.agent.ports.tools.clone());
        let (clock, limit) = (Arc::clone(&self.agent.ports.clock), self.hook_timeout_ms());
        self.spawn_hook(&context.clone(), async move {
            let heard = with_timeout(
                clock.as_ref(),
                limit,
                catch_panic(hooks.before_tool_call(context, call)),
            )
            .await;
            let mut response =
                heard.unwrap_or_else(|problem| deny_after_hook_failure(&problem).into());
            if let HookDecision::Change { input, facts, .. } = &mut response.decision {
                let changed = ToolUse { input: input.clone(), ..tool_use };
                **facts = tools.assess_in_run(&lane, &changed, &settings);
            }
            hook_response_input(id, response)
        })
    }

    pub(super) fn run_post_hook(
        &self,
        conversation: &Conversation,
        id: CallId,
    ) -> Option<AbortHandle> {
        let call = conversation.call(id)?.clone();
        let CallState::AwaitingPostHook(outcome) = call.state.clone() else { return None };
        let (hooks, context) =
            (Arc::clone(&self.agent.ports.hooks), self.hook_context(conversation));
        let (clock, limit) = (Arc::clone(&self.agent.ports.clock), self.hook_timeout_ms());
        self.spawn_hook(&context.clone(), async move {
            let heard = catch_panic(hooks.after_tool_call(context, call, outcome));
            let heard = with_timeout(clock.as_ref(), limit, heard).await;
            let response = heard.unwrap_or_else(|_| HookDecision::Pass {}.into());
            hook_response_input(id, response)
        })
    }

    pub(super) fn hook_timeout_ms(&self) -> u64 {
        self.agent.settings.limits.hook_ms
    }
}

fn hook_response_input(call: CallId, response: HookResponse) -> Input {
    let HookResponse { decision, context, stop } = response;
    Input::HookResponded { call, decision, context, stop }
}

/// Reports the files outside the workspace whose content a result contains.
fn report_outside_files(subject: &CallSubject, outcome: &ToolOutcome, sources: &SourceReporter) {
    let CallSubject::Paths(paths) = subject else { return };
    let is_outside =
        |used: &&PathUse| used.access == PathAccess::Read && used.zone == PathZone::Outside;
    if outcome.content().is_some() {
        for used in paths.iter().filter(is_outside) {
            sources.report(ContentSource::File(used.path.clone()));
        }
    }
}

/// The subject on which the permission decision about the call was based.
fn authorized_subject(conversation: &Conversation, id: CallId) -> CallSubject {
    let facts = match conversation.call(id) {
        Some(call) => Some(&call.facts),
        None => early_call(conversation, id).map(|early| &early.facts),
    };
    facts.map(|facts| facts.subject.clone()).unwrap_or_default()
}

/// The idempotency key of a call: its id and a hash of what it asks for. After a power failure
/// another reply may replace one that was lost, and its call must not be taken for a repeat.
fn idempotency_key(run: &str, id: CallId, tool_use: &ToolUse) -> Arc<str> {
    let asked = sha256_hex(format!("{} {}", tool_use.name, tool_use.input.text()).as_bytes());
    Arc::from(format!("{run}:{id}:{}", asked.get(..16).unwrap_or(&asked)))
}

/// The call of the open round, or of a reply that still streams, and its timeout.
fn call_to_run(conversation: &Conversation, id: CallId) -> Option<(ToolUse, u64)> {
    if let Some(call) = conversation.call(id) {
        return Some((call.tool_use.clone(), call.remaining_ms()));
    }
    early_call(conversation, id).map(|early| (early.tool_use.clone(), early.facts.timeout_ms))
}

/// A call of a reply that still streams.
fn early_call(conversation: &Conversation, id: CallId) -> Option<&EarlyCall> {
    let asking = conversation.run.as_ref().and_then(Run::pending_model_call)?;
    asking.early_calls.iter().find(|early| early.id == id)
}

/// The result of a call whose tool existed at the permission decision and no longer exists.
fn missing_tool_result(started_at: UnixMillis, call: CallId, attempt: u32) -> Input {
    let error = ToolError::new(
        "tool_missing",
        "the tool is not registered with this process",
        "use another tool, or ask the user to restore it",
    );
    let (outcome, context, untrusted) = (ToolOutcome::Failed(error), Vec::new(), Vec::new());
    Input::ToolReturned { call, attempt, started_at, outcome, context, untrusted }
}

async fn run_with_timeout(
    ready: PreparedCall,
    clock: &dyn Clock,
) -> (ToolOutcome, Vec<ContextNote>) {
    let (heartbeat, timeout_ms) = (ready.context.heartbeat.clone(), ready.timeout_ms);
    tokio::select! {
        biased;
        returned = catch_panic(run_and_find_context(ready)) => match returned {
            // The model reads one sentence, whichever tool failed; the trace is for humans.
            Ok((ToolOutcome::Failed(error), context)) => {
                (ToolOutcome::Failed(error.without_trace()), context)
            }
            Ok(returned) => returned,
            Err(panic) => (ToolOutcome::Failed(panic_error(&panic)), Vec::new()),
        },
        after_ms = wait_for_silence(&heartbeat, timeout_ms, clock) => {
            (ToolOutcome::TimedOut { after_ms }, Vec::new())
        }
    }
}

async fn run_and_find_context(ready: PreparedCall) -> (ToolOutcome, Vec<ContextNote>) {
    let PreparedCall { tool, context, tool_use, .. } = ready;
    let outcome = tool.run(context.clone(), tool_use.input.clone()).await;
    let found = tool.context_after(&context, &tool_use.input);
    (outcome, found)
}

/// Resolves when a call has sent no heartbeat for its whole timeout; returns how long the call has
/// run in total.
async fn wait_for_silence(heartbeat: &CallHeartbeat, timeout_ms: u64, clock: &dyn Clock) -> u64 {
    let began = clock.now();
    let mut beaten_ms = 0;
    loop {
        tokio::select! {
            biased;
            () = heartbeat.wait_for_beat() => beaten_ms = clock.now().ms_since(began),
            () = clock.sleep(timeout_ms) => return timeout_ms.saturating_add(beaten_ms),
        }
    }
}

/// Probes a call. A probe that panics or does not return in time has found nothing out.
async fn probe_with_timeout(ready: PreparedCall, clock: &dyn Clock) -> ProbeResult {
    let probe = catch_panic(ready.tool.probe(ready.context, ready.tool_use.input));
    tokio::select! {
        biased;
        finding = probe => finding.unwrap_or(ProbeResult::Unknown {}),
        () = clock.sleep(ready.timeout_ms) => ProbeResult::Unknown {},
    }
}

fn panic_error(panic: &str) -> ToolError {
    let first = panic.lines().next().unwrap_or_default();
    let message = format!("the tool panicked: {first}; effects unknown");
    let hint = "check what it did before you run it again";
    let error = ToolError::new("tool_panicked", &message, hint);
    if first == panic { error } else { error.with_detail(panic) }
}

/// A hook that panics before a call counts as a denial: it may have been there for safety.
fn deny_after_hook_failure(panic: &str) -> HookDecision {
    HookDecision::Deny { reason: format!("a hook failed: {panic}").into() }
}
