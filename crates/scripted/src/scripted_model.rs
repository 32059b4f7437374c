//! The scripted model over the model port: it answers requests from a script.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use windlass_core::log::input::ModelFailure;
use windlass_core::message::reply::ModelReply;
use windlass_core::message::request::ModelRequest;
use windlass_runtime::ports::{BoxFuture, Clock, Model, ReplyObserver};

use super::answer_player;
use super::request_view::OwnedRequestView;
use super::rule_matching::RuleUses;
use super::script::Script;
use super::scripted_answer::ScriptedAnswer;
use super::server::ReplyEvents;

/// An offline model that answers from a [`Script`].
///
/// One instance may serve any number of conversations. A request does not say which conversation it
/// belongs to, so `once` and `times` count per instance: give each conversation a model of its own
/// where that matters, or choose by what the conversation holds.
///
/// It depends on the conversation alone: the output limit and the stop strings of a request are
/// ignored, and the script itself says when an answer stops and why. `ask` counts the replies in
/// the transcript, so a compaction lowers it.
pub struct ScriptedModel {
    script: Script,
    clock: Arc<dyn Clock>,
    uses: Mutex<RuleUses>,
    /// The number of answers given, from which ids of messages are made.
    answers: AtomicU64,
}

impl ScriptedModel {
    /// Creates a model that answers from `script` and waits by `clock`.
    #[must_use]
    pub fn new(script: Script, clock: Arc<dyn Clock>) -> Self {
        Self { script, clock, uses: Mutex::default(), answers: AtomicU64::new(0) }
    }

    fn choose_answer(&self, request: &ModelRequest) -> ScriptedAnswer {
        let view = OwnedRequestView::from_request(request);
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        view.with_view(|seen| self.script.answer(&mut uses, seen))
    }
}

impl Model for ScriptedModel {
    fn call(
        &self,
        request: ModelRequest,
        stream: Arc<dyn ReplyObserver>,
    ) -> BoxFuture<'_, Result<ModelReply, ModelFailure>> {
        Box::pin(async move {
            let answer = self.choose_answer(&request);
            let number = self.answers.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            let model = &request.settings.model.name;
            let events = ReplyEvents::new(&answer, (model, number), stream.as_ref());
            answer_player::play_answer(answer, self.clock.as_ref(), stream.as_ref(), events).await
        })
    }
}

impl std::fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptedModel").field("rules", &self.script.rules.len()).finish()
    }
}
