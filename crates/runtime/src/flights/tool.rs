//! Tool calls, the probes for lost ones, and the hooks around them.

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tool_tests;

use std::sync::Arc;

use tokio::task::AbortHandle;
use windlass_core::block::ToolUse;
use windlass_core::call::{Call, CallState};
use windlass_core::conversation::Conversation;
use windlass_core::ids::{CallId, Millis};
use windlass_core::input::{Finding, HookAnswer, Input};
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::permission::Subject;
use windlass_core::raw::sha256_hex;
use windlass_core::run::{EarlyCall, Run};

use super::Flights;
use super::catch::caught;
use crate::ports::{CallContext, Clock, Heartbeat, Tool};

/// A call ready to fly.
struct Ready {
    tool: Arc<dyn Tool>,
    context: CallContext,
    tool_use: ToolUse,
    timeout_ms: u64,
}

impl Flights {
    pub(super) fn run_tool(
        &self,
        conversation: &Conversation,
        id: CallId,
        attempt: u32,
    ) -> Option<AbortHandle> {
        let (tool_use, time_ms) = what_to_run(conversation, id)?;
        let Some(ready) = self.ready(conversation, id, attempt, tool_use, time_ms) else {
            return self.fly(std::future::ready(missing(
                self.agent.ports.clock.now(),
                id,
                attempt,
            )));
        };
        let clock = Arc::clone(&self.agent.ports.clock);
        let (turns, lane) = (self.turns.clone(), self.lane.clone());
        self.fly(async move {
            let _turn = match turns {
                Some(turns) => Some(turns.take(&lane).await),
                None => None,
            };
            let started_at = clock.now();
            let outcome = run(ready, clock.as_ref()).await;
            Input::ToolReturned { call: id, attempt, started_at, outcome }
        })
    }

    fn ready(
        &self,
        conversation: &Conversation,
        id: CallId,
        attempt: u32,
        tool_use: ToolUse,
        timeout_ms: u64,
    ) -> Option<Ready> {
        let tool = self.agent.ports.tools.get(&tool_use.name)?;
        let run = conversation.run.as_ref().map_or("", |run| run.id.as_str());
        let idempotency_key = key(run, id, &tool_use);
        let (lane, heart) = (self.lane.clone(), Heartbeat::default());
        let subject = judged_subject(conversation, id);
        let settings = conversation.settings.clone();
        let context =
            CallContext { lane, call: id, idempotency_key, attempt, subject, settings, heart };
        Some(Ready { tool, context, tool_use, timeout_ms })
    }

    pub(super) fn probe(&self, conversation: &Conversation, id: CallId) -> Option<AbortHandle> {
        let call = call(conversation, id)?;
        let (tool_use, timeout_ms) = (call.tool_use.clone(), call.facts.timeout_ms);
        let ready = self.ready(conversation, id, call.attempts, tool_use, timeout_ms);
        let clock = Arc::clone(&self.agent.ports.clock);
        self.fly(async move {
            let finding = match ready {
                Some(ready) => find_out(ready, clock.as_ref()).await,
                None => Finding::Unknown {},
            };
            Input::Probed { call: id, finding }
        })
    }

    pub(super) fn hook_before(
        &self,
        conversation: &Conversation,
        id: CallId,
    ) -> Option<AbortHandle> {
        let call = call(conversation, id)?.clone();
        let (scene, lane) = (self.scene(conversation), self.lane.clone());
        let settings = conversation.settings.clone()?;
        let tool_use = call.tool_use.clone();
        let (hooks, tools) = (Arc::clone(&self.agent.ports.hooks), self.agent.ports.tools.clone());
        let (clock, limit) = (Arc::clone(&self.agent.ports.clock), self.hook_ms());
        self.fly(async move {
            let heard = within(clock.as_ref(), limit, caught(hooks.before(scene, call))).await;
            let mut heard = heard.unwrap_or_else(|problem| closed(&problem).into());
            if let HookAnswer::Change { input, facts, .. } = &mut heard.answer {
                let changed = ToolUse { input: input.clone(), ..tool_use };
                **facts = tools.assess_in_run(&lane, &changed, &settings);
            }
            Input::HookAnswered { call: id, answer: heard.answer, context: heard.context }
        })
    }

    pub(super) fn hook_after(
        &self,
        conversation: &Conversation,
        id: CallId,
    ) -> Option<AbortHandle> {
        let call = call(conversation, id)?.clone();
        let CallState::AfterHook(outcome) = call.state.clone() else { return None };
        let (hooks, scene) = (Arc::clone(&self.agent.ports.hooks), self.scene(conversation));
        let (clock, limit) = (Arc::clone(&self.agent.ports.clock), self.hook_ms());
        self.fly(async move {
            let heard = caught(hooks.after(scene, call, outcome));
            let heard = within(clock.as_ref(), limit, heard).await;
            let heard = heard.unwrap_or_else(|_| HookAnswer::Pass {}.into());
            Input::HookAnswered { call: id, answer: heard.answer, context: heard.context }
        })
    }

    pub(super) fn hook_ms(&self) -> u64 {
        self.agent.settings.limits.hook_ms
    }
}

/// What the call was judged to be about.
fn judged_subject(conversation: &Conversation, id: CallId) -> Subject {
    let facts = match call(conversation, id) {
        Some(call) => Some(&call.facts),
        None => early_call(conversation, id).map(|early| &early.facts),
    };
    facts.map(|facts| facts.subject.clone()).unwrap_or_default()
}

/// Waits for somebody who may break down or never answer.
pub(crate) async fn within<T>(
    clock: &dyn Clock,
    limit_ms: u64,
    work: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    tokio::select! {
        biased;
        done = work => done,
        () = clock.sleep(limit_ms) => Err(format!("no answer within {limit_ms} ms")),
    }
}

/// The call's name and what it asks for: after a power cut another reply may stand in the place of
/// one that was lost, and its call must not be taken for a repeat.
fn key(run: &str, id: CallId, tool_use: &ToolUse) -> Arc<str> {
    let asked = sha256_hex(format!("{} {}", tool_use.name, tool_use.input.text()).as_bytes());
    Arc::from(format!("{run}:{id}:{}", asked.get(..16).unwrap_or(&asked)))
}

fn call(conversation: &Conversation, id: CallId) -> Option<&Call> {
    conversation.run.as_ref().and_then(Run::round)?.call(id)
}

/// The call of the open round, or one of a reply that still streams, and how long it may take.
fn what_to_run(conversation: &Conversation, id: CallId) -> Option<(ToolUse, u64)> {
    if let Some(call) = call(conversation, id) {
        return Some((call.tool_use.clone(), call.time_ms()));
    }
    early_call(conversation, id).map(|early| (early.tool_use.clone(), early.facts.timeout_ms))
}

/// A call of a reply that still streams.
fn early_call(conversation: &Conversation, id: CallId) -> Option<&EarlyCall> {
    let asking = conversation.run.as_ref().and_then(Run::asking)?;
    asking.early.iter().find(|early| early.id == id)
}

/// The tool was there when the call was judged and is not any more.
fn missing(started_at: Millis, call: CallId, attempt: u32) -> Input {
    let error = ToolError::new(
        "tool_missing",
        "the tool is not registered with this process",
        "use another tool, or ask the user to restore it",
    );
    Input::ToolReturned { call, attempt, started_at, outcome: Outcome::Failed(error) }
}

async fn run(ready: Ready, clock: &dyn Clock) -> Outcome {
    let Ready { tool, context, tool_use, timeout_ms } = ready;
    let heart = context.heart.clone();
    let work = caught(tool.run(context, tool_use.input));
    tokio::select! {
        biased;
        outcome = work => match outcome {
            // Whoever wrote the tool, the model reads a sentence; the trace is for people.
            Ok(Outcome::Failed(error)) => Outcome::Failed(error.without_trace()),
            Ok(outcome) => outcome,
            Err(panic) => Outcome::Failed(panicked(&panic)),
        },
        after_ms = silence(&heart, timeout_ms, clock) => Outcome::TimedOut { after_ms },
    }
}

/// Ends when nothing was heard of a call for so long, with the time it had in all.
async fn silence(heart: &Heartbeat, timeout_ms: u64, clock: &dyn Clock) -> u64 {
    let began = clock.now();
    let mut beaten_ms = 0;
    loop {
        tokio::select! {
            biased;
            () = heart.heard() => beaten_ms = clock.now().since(began),
            () = clock.sleep(timeout_ms) => return timeout_ms.saturating_add(beaten_ms),
        }
    }
}

/// A probe that breaks down or does not come back has found nothing out.
async fn find_out(ready: Ready, clock: &dyn Clock) -> Finding {
    let probe = caught(ready.tool.verify(ready.context, ready.tool_use.input));
    tokio::select! {
        biased;
        finding = probe => finding.unwrap_or(Finding::Unknown {}),
        () = clock.sleep(ready.timeout_ms) => Finding::Unknown {},
    }
}

fn panicked(panic: &str) -> ToolError {
    let first = panic.lines().next().unwrap_or_default();
    let message = format!("the tool broke down: {first}; effects unknown");
    let hint = "check what it did before doing it again";
    let error = ToolError::new("tool_panicked", &message, hint);
    if first == panic { error } else { error.detailed(panic) }
}

/// A hook that breaks down before a call counts as a no: it may have been there for safety.
fn closed(panic: &str) -> HookAnswer {
    HookAnswer::Deny { reason: format!("a hook broke down: {panic}").into() }
}
