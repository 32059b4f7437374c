//! Several hooks as one. All of them are called concurrently, and their responses are combined in
//! the order in which the hooks were given: deny overrides defer, defer overrides ask, ask overrides allow, a later change
//! of arguments replaces an earlier one, and no change counts if a hook denies.

use std::sync::Arc;

use futures_util::future::join_all;
use windlass_core::call::call_state::Call;
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::ids::LaneId;
use windlass_core::log::inbox::HumanAnswer;
use windlass_core::log::input::HookDecision;
use windlass_core::permission::HookPreference;
use windlass_core::run::question::Question;
use windlass_core::run::review::{Review, ReviewResult};
use windlass_core::settings::conversation_settings::HookPoints;

use crate::ports::{
    BoxFuture, HookContext, HookResponse, Hooks, RunMoment, SessionEndReason, SessionEvent,
};

#[cfg(test)]
#[path = "hook_chain_tests.rs"]
mod hook_chain_tests;

/// Several hooks that are called as one.
#[derive(Clone, Default)]
pub struct HookChain {
    hooks: Vec<Arc<dyn Hooks>>,
}

impl HookChain {
    /// Adds hooks to the chain.
    #[must_use]
    pub fn with(mut self, hooks: Arc<dyn Hooks>) -> Self {
        self.hooks.push(hooks);
        self
    }

    /// Calls every hook concurrently and returns the responses in order.
    async fn run_all<'h, T>(&'h self, call: impl Fn(&'h dyn Hooks) -> BoxFuture<'h, T>) -> Vec<T> {
        join_all(self.hooks.iter().map(|hooks| call(hooks.as_ref()))).await
    }
}

impl Hooks for HookChain {
    fn points(&self) -> HookPoints {
        self.hooks.iter().fold(HookPoints::default(), |all, hooks| all.union(hooks.points()))
    }

    fn on_start(&self, context: HookContext) -> BoxFuture<'_, ReviewResult> {
        Box::pin(async move {
            combine_review_results(self.run_all(|hooks| hooks.on_start(context.clone())).await)
        })
    }

    fn before_tool_call(&self, context: HookContext, call: Call) -> BoxFuture<'_, HookResponse> {
        Box::pin(async move {
            let responses =
                self.run_all(|hooks| hooks.before_tool_call(context.clone(), call.clone()));
            combine_responses(responses.await)
        })
    }

    fn after_tool_call(
        &self,
        context: HookContext,
        call: Call,
        outcome: ToolOutcome,
    ) -> BoxFuture<'_, HookResponse> {
        Box::pin(async move {
            combine_responses(
                self.run_all(|hooks| {
                    hooks.after_tool_call(context.clone(), call.clone(), outcome.clone())
                })
                .await,
            )
        })
    }

    fn after_sampling(&self, context: HookContext) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.run_all(|hooks| hooks.after_sampling(context.clone())).await;
        })
    }

    fn review(&self, context: HookContext, review: Review) -> BoxFuture<'_, ReviewResult> {
        Box::pin(async move {
            let results = self.run_all(|hooks| hooks.review(context.clone(), review.clone()));
            combine_review_results(results.await)
        })
    }

    fn on_question(&self, context: HookContext, question: Question) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.run_all(|hooks| hooks.on_question(context.clone(), question.clone())).await;
        })
    }

    fn decides(&self, question: &Question) -> bool {
        self.hooks.iter().any(|hooks| hooks.decides(question))
    }

    fn decide_question(
        &self,
        context: HookContext,
        question: Question,
    ) -> BoxFuture<'_, Option<HumanAnswer>> {
        Box::pin(async move {
            let deciding = self.hooks.iter().filter(|hooks| hooks.decides(&question));
            let answers =
                deciding.map(|hooks| hooks.decide_question(context.clone(), question.clone()));
            let answers = join_all(answers).await.into_iter().flatten();
            // A denial overrides an approval.
            answers.max_by_key(|answer| matches!(answer, HumanAnswer::Deny { .. }))
        })
    }

    fn wants_moments(&self) -> bool {
        self.hooks.iter().any(|hooks| hooks.wants_moments())
    }

    fn on_moment(&self, context: HookContext, moment: RunMoment) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.run_all(|hooks| hooks.on_moment(context.clone(), moment.clone())).await;
        })
    }

    fn on_session_event(&self, lane: LaneId, event: SessionEvent) -> BoxFuture<'_, ReviewResult> {
        Box::pin(async move {
            let told = self.run_all(|hooks| hooks.on_session_event(lane.clone(), event.clone()));
            combine_review_results(told.await)
        })
    }

    fn on_session_end(&self, lane: LaneId, reason: SessionEndReason) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.run_all(|hooks| hooks.on_session_end(lane.clone(), reason)).await;
        })
    }
}

/// Combines the responses of several hooks about a call into one.
#[must_use]
pub fn combine_responses(all: Vec<HookResponse>) -> HookResponse {
    let context = join_texts(all.iter().filter_map(|response| response.context.as_deref()));
    let stop = join_texts(all.iter().filter_map(|response| response.stop.as_deref()));
    let decision = all
        .into_iter()
        .map(|response| response.decision)
        .fold(HookDecision::Pass {}, stronger_decision);
    HookResponse { decision, context, stop }
}

/// Returns the decision that applies when `later` comes after `earlier`.
fn stronger_decision(earlier: HookDecision, later: HookDecision) -> HookDecision {
    match (earlier, later) {
        (deny @ HookDecision::Deny { .. }, _) | (_, deny @ HookDecision::Deny { .. }) => deny,
        (defer @ HookDecision::Defer {}, _) | (_, defer @ HookDecision::Defer {}) => defer,
        (
            HookDecision::Change { preference: one, reason: first, .. },
            HookDecision::Change { input, facts, preference, reason },
        ) => {
            let (preference, reason) = (stricter_preference(one, preference), first.or(reason));
            HookDecision::Change { input, facts, preference, reason }
        }
        (HookDecision::Change { input, facts, preference, reason }, other)
        | (other, HookDecision::Change { input, facts, preference, reason }) => {
            let preference = stricter_preference(preference, preference_of(&other));
            let reason = reason.or_else(|| ask_reason_of(&other));
            HookDecision::Change { input, facts, preference, reason }
        }
        (HookDecision::Ask { reason: one }, HookDecision::Ask { reason: other }) => {
            HookDecision::Ask { reason: one.or(other) }
        }
        (ask @ HookDecision::Ask { .. }, _) | (_, ask @ HookDecision::Ask { .. }) => ask,
        (HookDecision::Allow {}, _) | (_, HookDecision::Allow {}) => HookDecision::Allow {},
        (HookDecision::Pass {}, HookDecision::Pass {}) => HookDecision::Pass {},
    }
}

fn preference_of(answer: &HookDecision) -> HookPreference {
    match answer {
        HookDecision::Allow {} => HookPreference::Allow,
        HookDecision::Ask { .. } => HookPreference::Ask,
        HookDecision::Change { preference, .. } => *preference,
        HookDecision::Pass {} | HookDecision::Deny { .. } | HookDecision::Defer {} => {
            HookPreference::Neutral
        }
    }
}

/// Returns why the hook wants a human to approve the call.
fn ask_reason_of(decision: &HookDecision) -> Option<Arc<str>> {
    match decision {
        HookDecision::Ask { reason } | HookDecision::Change { reason, .. } => reason.clone(),
        HookDecision::Pass {}
        | HookDecision::Allow {}
        | HookDecision::Deny { .. }
        | HookDecision::Defer {} => None,
    }
}

fn stricter_preference(a: HookPreference, b: HookPreference) -> HookPreference {
    match (a, b) {
        (HookPreference::Ask, _) | (_, HookPreference::Ask) => HookPreference::Ask,
        (HookPreference::Allow, _) | (_, HookPreference::Allow) => HookPreference::Allow,
        (HookPreference::Neutral, HookPreference::Neutral) => HookPreference::Neutral,
    }
}

/// Combines the review results of several hooks into one: ending the run overrides a rejection, and
/// a rejection overrides everything else.
#[must_use]
pub fn combine_review_results(all: Vec<ReviewResult>) -> ReviewResult {
    let context = join_texts(all.iter().filter_map(|result| match result {
        ReviewResult::Pass { context } => context.as_deref(),
        _ => None,
    }));
    let weight = |result: &ReviewResult| match result {
        ReviewResult::Stop { .. } => 4,
        ReviewResult::Block { .. } => 3,
        ReviewResult::ModelText { .. } => 2,
        ReviewResult::Pass { .. } => 1,
        ReviewResult::Failed { .. } => 0,
    };
    let mut strongest = ReviewResult::Pass { context: None };
    for result in all {
        if weight(&result) > weight(&strongest) {
            strongest = result;
        }
    }
    match strongest {
        ReviewResult::Pass { .. } => ReviewResult::Pass { context },
        other => other,
    }
}

fn join_texts<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Arc<str>> {
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| Arc::from(texts.join("\n")))
}
