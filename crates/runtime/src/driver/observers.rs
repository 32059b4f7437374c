//! Hooks that see what was recorded: questions, which they may answer, and moments of a run, which
//! they cannot change. The loop does not wait for them, but a run with a question that a hook may
//! answer is not left to a human before the hook has returned.

use std::sync::Arc;

use tokio::sync::watch;
use windlass_core::log::entry::Entry;
use windlass_core::log::ids::QuestionId;
use windlass_core::log::inbox::{AnswerChannel, AnswerSource, HumanAnswer, InboxCommand};
use windlass_core::log::record::Record;
use windlass_core::run::active_run::Run;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::question::Question;

use super::Driver;
use super::run_moments::moments_of;
use crate::adapter_guard::{catch_panic, with_timeout};
use crate::feed::{LaneReaders, OwnerFeed};
use crate::ports::{HookContext, HookModel, OutboxMessage, RunMoment};

impl Driver {
    /// Runs the hooks for what was recorded.
    pub(super) fn run_observers(&self, before: &Conversation, entries: &[Arc<Entry>]) {
        let wants_moments = self.ports.hooks.wants_moments();
        for entry in entries {
            for record in &entry.records {
                if let Record::QuestionAsked { question } = record {
                    self.run_question_hooks(question.clone());
                }
            }
            if wants_moments {
                let moments = moments_of(before, &self.conversation, entry);
                moments.into_iter().for_each(|moment| self.run_moment_hooks(moment));
            }
        }
    }

    /// Runs the hooks that may answer the open questions of a run that was taken over: those of the
    /// earlier owner are gone.
    pub(super) fn decide_open_questions(&self) {
        let open = self.conversation.run.iter().flat_map(Run::open_questions);
        let open: Vec<Question> =
            open.filter(|question| self.ports.hooks.decides(question)).cloned().collect();
        open.into_iter().for_each(|question| self.run_question_hooks(question));
    }

    fn run_question_hooks(&self, question: Question) {
        let hooks = Arc::clone(&self.ports.hooks);
        let decides = hooks.decides(&question);
        let deciding = decides.then(|| self.deciding_hooks.register());
        let answer_to = AnswerTarget::of(self, question.id);
        self.spawn_observer(move |context| async move {
            if decides
                && let Some(answer) = hooks.decide_question(context.clone(), question.clone()).await
            {
                answer_to.send(answer).await;
                drop(deciding);
                return;
            }
            drop(deciding);
            hooks.on_question(context, question).await;
        });
    }

    fn run_moment_hooks(&self, moment: RunMoment) {
        let hooks = Arc::clone(&self.ports.hooks);
        self.spawn_observer(move |context| async move { hooks.on_moment(context, moment).await });
    }

    /// Starts a hook that the loop does not wait for.
    fn spawn_observer<F>(&self, hook: impl FnOnce(HookContext) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (clock, limit) = (Arc::clone(&self.ports.clock), self.settings.limits.hook_ms);
        let model = HookModel::new(Arc::clone(&self.ports.model));
        let context = HookContext::new(self.lane.clone(), self.conversation.clone());
        let context = context.with_model(model);
        let (messages, charges) = (context.messages.clone(), self.effects.hook_charges(&context));
        // A stream ends when its driver is done, not when the last notification hook is.
        let (feed, owner) = (self.feed.clone(), self.owner.as_ref().map(OwnerFeed::downgrade));
        let hook = hook(context);
        self.options.notifications.spawn(async move {
            // A hook that panics or takes too long has nothing to say.
            _ = with_timeout(clock.as_ref(), limit, catch_panic(hook)).await;
            charges.report().await;
            let owner = owner.and_then(|owner| owner.upgrade());
            LaneReaders { feed, owner }.publish_hook_messages(&messages).await;
        });
    }
}

/// Where the answer of a hook goes.
struct AnswerTarget {
    store: Arc<dyn crate::ports::Store>,
    lane: windlass_core::log::ids::LaneId,
    question: QuestionId,
}

impl AnswerTarget {
    fn of(driver: &Driver, question: QuestionId) -> Self {
        Self { store: Arc::clone(&driver.ports.store), lane: driver.lane.clone(), question }
    }

    /// Stores the answer like that of a human. If the store fails, the question stays open.
    async fn send(self, answer: HumanAnswer) {
        let answered_by = Some(AnswerSource::new(AnswerChannel::Hook));
        let message = OutboxMessage {
            idempotency_key: Arc::from(format!("hook-answer:{}", self.question)),
            body: InboxCommand::Answer { question: self.question, answer, answered_by },
        };
        let _ = self.store.enqueue_message(self.lane, message).await;
    }
}

/// The number of hooks that may still answer a question.
#[derive(Clone, Default)]
pub(super) struct DecidingHooks(Arc<watch::Sender<usize>>);

impl DecidingHooks {
    fn register(&self) -> DecidingHook {
        self.0.send_modify(|running| *running = running.saturating_add(1));
        DecidingHook(self.clone())
    }

    pub(super) fn are_running(&self) -> bool {
        *self.0.borrow() > 0
    }

    /// Waits until a hook that runs now has returned.
    pub(super) fn next_return(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut running = self.0.subscribe();
        async move {
            if running.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

/// A hook that may answer a question.
struct DecidingHook(DecidingHooks);

impl Drop for DecidingHook {
    fn drop(&mut self) {
        self.0.0.send_modify(|running| *running = running.saturating_sub(1));
    }
}
