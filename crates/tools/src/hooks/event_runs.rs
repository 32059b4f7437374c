//! Runs the hooks of one event: those that match, whose condition holds, and that have not run too
//! often; with the payload of the event.

use std::sync::PoisonError;

use futures_util::future::join_all;
use serde_json::Value;
use windlass_core::call::call_state::Call;
use windlass_core::log::ids::LaneId;
use windlass_core::permission::RuleFolders;
use windlass_core::run::child_runs::root_lane;
use windlass_runtime::ports::{HookContext, HookMessageLevel};

use super::config::{CalledTool, ConfiguredHook};
use super::event_subject::EventSubject;
use super::hook_runner::HookScene;
use super::{CommandHooks, HookEvent, HookOutput, HookPlace, MAX_SESSIONS, payload};

impl CommandHooks {
    /// Runs the hooks of an event that match `subject` concurrently, and returns their outputs in
    /// the order of the configuration.
    pub(super) async fn run_hooks(
        &self,
        event: HookEvent,
        subject: &str,
        context: &HookContext,
        more: Value,
    ) -> Vec<HookOutput> {
        self.run_hooks_about((event, subject, None), context, more).await
    }

    /// Runs the hooks of an event about a call whose facts are known.
    pub(super) async fn run_call_hooks(
        &self,
        event: HookEvent,
        call: &Call,
        context: &HookContext,
        more: Value,
    ) -> Vec<HookOutput> {
        let rules = context.conversation.settings.as_ref().map(|settings| &settings.rules);
        let called = rules.map(|rules| CalledTool {
            subject: &call.facts.subject,
            folders: RuleFolders { root: &rules.root, home: &rules.home },
        });
        self.run_hooks_about((event, &call.tool_use.name, called), context, more).await
    }

    async fn run_hooks_about(
        &self,
        (event, subject, call): (HookEvent, &str, Option<CalledTool<'_>>),
        context: &HookContext,
        more: Value,
    ) -> Vec<HookOutput> {
        let mut hooks = self.config.matching_hooks(event, subject);
        if !hooks.any(|(_, hook)| hook.is_for_call(subject, call.as_ref())) {
            return Vec::new();
        }
        let input = self.payload(event, context, more);
        let scene = HookScene::of(context);
        self.run_hooks_with_payload((event, subject, call), &context.lane, &input, &scene).await
    }

    /// Returns the payload of an event, with the transcripts that it is about.
    pub(super) fn payload(&self, event: HookEvent, context: &HookContext, more: Value) -> Value {
        let mut input = payload::build_payload(event, context, &self.runner.folder, more);
        self.put_transcript(&mut input, "transcript_path", &root_lane(&context.lane));
        if event == HookEvent::SubagentStop {
            self.put_transcript(&mut input, "agent_transcript_path", &context.lane);
        }
        input
    }

    pub(super) fn put_transcript(&self, input: &mut Value, field: &str, lane: &LaneId) {
        let found = self.transcripts.as_ref().and_then(|locate| locate(lane));
        if let (Some(path), Some(fields)) = (found, input.as_object_mut()) {
            fields.insert(field.to_owned(), Value::from(path.to_string_lossy()));
        }
    }

    pub(super) async fn run_hooks_with_payload(
        &self,
        (event, subject, call): (HookEvent, &str, Option<CalledTool<'_>>),
        lane: &LaneId,
        input: &Value,
        scene: &HookScene,
    ) -> Vec<HookOutput> {
        let about = EventSubject { event, subject };
        let hooks = self.config.matching_hooks(event, subject);
        let due: Vec<&ConfiguredHook> = hooks
            .filter(|(_, hook)| hook.is_for_call(subject, call.as_ref()))
            .filter(|(position, hook)| {
                !hook.runs_once || self.is_first_time(lane, (event, *position))
            })
            .map(|(_, hook)| hook)
            .collect();
        let (beside, awaited): (Vec<_>, Vec<_>) = due.into_iter().partition(|hook| hook.is_async);
        beside.into_iter().for_each(|hook| self.run_in_background(about, hook, input, scene));
        join_all(awaited.into_iter().map(|hook| self.runner.run_hook(about, hook, input, scene)))
            .await
    }

    /// Starts a hook that nothing waits for.
    fn run_in_background(
        &self,
        about: EventSubject<'_>,
        hook: &ConfiguredHook,
        input: &Value,
        scene: &HookScene,
    ) {
        let Some(place) = self.background.begin() else {
            let text = "too many hooks are running in the background; this one was left out";
            let message = about.message(HookMessageLevel::Warning, text, input);
            return self.runner.show_to_user(message, &scene.messages);
        };
        let (runner, hook, scene) = (self.runner.clone(), hook.clone(), scene.clone());
        let (event, subject, input) = (about.event, about.subject.to_owned(), input.clone());
        tokio::spawn(async move {
            let about = EventSubject { event, subject: &subject };
            drop(runner.run_hook(about, &hook, &input, &scene).await);
            drop(place);
        });
    }

    /// Records that a hook runs in a conversation; returns whether it is the first time.
    fn is_first_time(&self, lane: &LaneId, place: HookPlace) -> bool {
        let mut finished = self.finished_once.lock().unwrap_or_else(PoisonError::into_inner);
        if finished.len() >= MAX_SESSIONS {
            finished.clear();
        }
        finished.insert((root_lane(lane), place))
    }
}
