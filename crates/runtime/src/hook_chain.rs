//! Several hooks as one. All of them are asked side by side about the same thing, and what they say
//! is put together in the order they were given: deny beats ask beats allow, a later change of
//! arguments replaces an earlier one, and none counts if somebody denies.

use std::sync::Arc;

use windlass_core::call::Call;
use windlass_core::counsel::{Advice, Counsel};
use windlass_core::ids::LaneId;
use windlass_core::input::HookAnswer;
use windlass_core::outcome::Outcome;
use windlass_core::permission::Lean;
use windlass_core::question::Question;

use crate::ports::{Heard, Hooks, Scene, SessionEndReason, Task};

#[cfg(test)]
#[path = "hook_chain_tests.rs"]
mod hook_chain_tests;

/// Several hooks as one.
#[derive(Clone, Default)]
pub struct HookChain {
    hooks: Vec<Arc<dyn Hooks>>,
}

impl HookChain {
    /// The same hooks and one more.
    #[must_use]
    pub fn with(mut self, hooks: Arc<dyn Hooks>) -> Self {
        self.hooks.push(hooks);
        self
    }

    /// Asks every hook, side by side.
    async fn all<T>(&self, ask: impl Fn(Arc<dyn Hooks>) -> Task<'static, T>) -> Vec<T> {
        side_by_side(self.hooks.iter().map(|hooks| ask(Arc::clone(hooks))).collect()).await
    }
}

/// Waits for all of them at once and keeps their order.
pub async fn side_by_side<T>(mut tasks: Vec<Task<'_, T>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = tasks.iter().map(|_| None).collect();
    std::future::poll_fn(move |context| {
        let mut pending = false;
        for (task, place) in tasks.iter_mut().zip(&mut done) {
            if place.is_none() {
                match task.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => *place = Some(value),
                    std::task::Poll::Pending => pending = true,
                }
            }
        }
        if pending {
            return std::task::Poll::Pending;
        }
        std::task::Poll::Ready(done.drain(..).flatten().collect())
    })
    .await
}

impl Hooks for HookChain {
    fn began(&self, scene: Scene) -> Task<'_, Advice> {
        Box::pin(async move {
            let ask = |hooks: Arc<dyn Hooks>| -> Task<'static, Advice> {
                let scene = scene.clone();
                Box::pin(async move { hooks.began(scene).await })
            };
            advice(self.all(ask).await)
        })
    }

    fn before(&self, scene: Scene, call: Call) -> Task<'_, Heard> {
        Box::pin(async move {
            let ask = |hooks: Arc<dyn Hooks>| -> Task<'static, Heard> {
                let (scene, call) = (scene.clone(), call.clone());
                Box::pin(async move { hooks.before(scene, call).await })
            };
            heard(self.all(ask).await)
        })
    }

    fn after(&self, scene: Scene, call: Call, outcome: Outcome) -> Task<'_, Heard> {
        Box::pin(async move {
            let ask = |hooks: Arc<dyn Hooks>| -> Task<'static, Heard> {
                let (scene, call, outcome) = (scene.clone(), call.clone(), outcome.clone());
                Box::pin(async move { hooks.after(scene, call, outcome).await })
            };
            heard(self.all(ask).await)
        })
    }

    fn sampled(&self, scene: Scene) -> Task<'_, ()> {
        Box::pin(async move {
            let ask = |hooks: Arc<dyn Hooks>| -> Task<'static, ()> {
                let scene = scene.clone();
                Box::pin(async move { hooks.sampled(scene).await })
            };
            drop(self.all(ask).await);
        })
    }

    fn counsel(&self, scene: Scene, about: Counsel) -> Task<'_, Advice> {
        Box::pin(async move {
            let ask = |hooks: Arc<dyn Hooks>| -> Task<'static, Advice> {
                let (scene, about) = (scene.clone(), about.clone());
                Box::pin(async move { hooks.counsel(scene, about).await })
            };
            advice(self.all(ask).await)
        })
    }

    fn notified(&self, scene: Scene, question: Question) -> Task<'_, ()> {
        Box::pin(async move {
            let ask = |hooks: Arc<dyn Hooks>| -> Task<'static, ()> {
                let (scene, question) = (scene.clone(), question.clone());
                Box::pin(async move { hooks.notified(scene, question).await })
            };
            drop(self.all(ask).await);
        })
    }

    fn session_ended(&self, lane: LaneId, reason: SessionEndReason) -> Task<'_, ()> {
        Box::pin(async move {
            let ask = |hooks: Arc<dyn Hooks>| -> Task<'static, ()> {
                let lane = lane.clone();
                Box::pin(async move { hooks.session_ended(lane, reason).await })
            };
            drop(self.all(ask).await);
        })
    }
}

/// What several hooks said about a call, as one answer.
#[must_use]
pub fn heard(all: Vec<Heard>) -> Heard {
    let context = joined(all.iter().filter_map(|heard| heard.context.as_deref()));
    let answer = all.into_iter().map(|heard| heard.answer).fold(HookAnswer::Pass {}, stronger);
    Heard { answer, context }
}

/// The answer that stands when `later` comes after `earlier`.
fn stronger(earlier: HookAnswer, later: HookAnswer) -> HookAnswer {
    match (earlier, later) {
        (deny @ HookAnswer::Deny { .. }, _) | (_, deny @ HookAnswer::Deny { .. }) => deny,
        (HookAnswer::Change { lean: one, .. }, HookAnswer::Change { input, facts, lean }) => {
            HookAnswer::Change { input, facts, lean: firmer(one, lean) }
        }
        (HookAnswer::Change { input, facts, lean }, other)
        | (other, HookAnswer::Change { input, facts, lean }) => {
            HookAnswer::Change { input, facts, lean: firmer(lean, lean_of(&other)) }
        }
        (HookAnswer::Ask {}, _) | (_, HookAnswer::Ask {}) => HookAnswer::Ask {},
        (HookAnswer::Allow {}, _) | (_, HookAnswer::Allow {}) => HookAnswer::Allow {},
        (HookAnswer::Pass {}, HookAnswer::Pass {}) => HookAnswer::Pass {},
    }
}

fn lean_of(answer: &HookAnswer) -> Lean {
    match answer {
        HookAnswer::Allow {} => Lean::Allow,
        HookAnswer::Ask {} => Lean::Ask,
        HookAnswer::Change { lean, .. } => *lean,
        HookAnswer::Pass {} | HookAnswer::Deny { .. } => Lean::Neutral,
    }
}

fn firmer(a: Lean, b: Lean) -> Lean {
    match (a, b) {
        (Lean::Ask, _) | (_, Lean::Ask) => Lean::Ask,
        (Lean::Allow, _) | (_, Lean::Allow) => Lean::Allow,
        (Lean::Neutral, Lean::Neutral) => Lean::Neutral,
    }
}

/// What several hooks advised, as one: an end beats a no, and a no beats everything else.
#[must_use]
pub fn advice(all: Vec<Advice>) -> Advice {
    let context = joined(all.iter().filter_map(|advice| match advice {
        Advice::Pass { context } => context.as_deref(),
        _ => None,
    }));
    let weight = |advice: &Advice| match advice {
        Advice::Stop { .. } => 4,
        Advice::Block { .. } => 3,
        Advice::Summary { .. } => 2,
        Advice::Pass { .. } => 1,
        Advice::Failed { .. } => 0,
    };
    let mut strongest = Advice::Pass { context: None };
    for advice in all {
        if weight(&advice) > weight(&strongest) {
            strongest = advice;
        }
    }
    match strongest {
        Advice::Pass { .. } => Advice::Pass { context },
        other => other,
    }
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Arc<str>> {
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| Arc::from(texts.join("\n")))
}
