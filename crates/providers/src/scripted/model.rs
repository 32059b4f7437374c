//! The scripted model as a model: it answers requests from a script.

use std::sync::{Arc, Mutex, PoisonError};

use windlass_core::input::Failure;
use windlass_core::reply::Reply;
use windlass_core::request::Request;
use windlass_runtime::ports::{Clock, Model, Stream, Task};

use super::answer::Answer;
use super::matching::Uses;
use super::performance;
use super::script::Script;
use super::view::View;

/// An offline model that answers from a [`Script`].
///
/// One instance may serve any number of conversations. A request does not say which conversation
/// it belongs to, so `once` and `times` count per instance: give each conversation a model of its
/// own where that matters, or choose by what the conversation holds.
///
/// It goes by the conversation alone: the output limit and the stop strings of a request are not
/// looked at, a script says itself when an answer stops and why. `ask` counts the replies in the
/// transcript, so a compaction lowers it.
pub struct ScriptedModel {
    script: Script,
    clock: Arc<dyn Clock>,
    uses: Mutex<Uses>,
}

impl ScriptedModel {
    /// A model that answers from `script` and waits by `clock`.
    #[must_use]
    pub fn new(script: Script, clock: Arc<dyn Clock>) -> Self {
        Self { script, clock, uses: Mutex::default() }
    }

    fn answer(&self, request: &Request) -> Answer {
        let view = View::of(request);
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        view.with(|seen| self.script.answer(&mut uses, seen))
    }
}

impl Model for ScriptedModel {
    fn ask(&self, request: Request, stream: Arc<dyn Stream>) -> Task<'_, Result<Reply, Failure>> {
        Box::pin(async move {
            let answer = self.answer(&request);
            performance::of(answer, self.clock.as_ref(), stream.as_ref()).await
        })
    }
}

impl std::fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptedModel").field("rules", &self.script.rules.len()).finish()
    }
}
