//! Questions with a deadline: the run stays driven until the time is over, so its stream does not
//! end, and without a word here nothing would say what the run waits for.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::{Instant, Sleep};
use windlass::core::log::ids::{LaneId, QuestionId, UnixMillis};
use windlass::core::run::active_run::Run;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::Question;
use windlass::core::run::wanted::{is_parked, is_waiting_for_children};
use windlass::ports::Clock;
use windlass::{Session, SystemClock};

use crate::inspect::open_questions::{OpenQuestion, find_open_questions};
use crate::messages::{self, AnswerDeadline};
use crate::setup::RunSetup;

/// How long nothing happens before the state of the run is read; then twice as long, and so on.
const FIRST_CHECK: Duration = Duration::from_millis(500);

/// The longest time between two checks.
const MAX_INTERVAL: Duration = Duration::from_secs(60);

/// Watches a stream for questions with a deadline.
pub(super) struct DeadlineWatch {
    check_at: Instant,
    interval: Duration,
    printed: BTreeSet<(LaneId, QuestionId)>,
}

/// Questions that are open until a deadline.
pub(super) struct TimedQuestions {
    pub(super) questions: Vec<OpenQuestion>,
    deadline: AnswerDeadline,
    /// The time that is left.
    pub(super) remaining: Duration,
}

impl TimedQuestions {
    /// What is asked, how to answer it, and what happens without an answer.
    pub(super) fn notice(&self) -> String {
        let mut lines: Vec<String> = self
            .questions
            .iter()
            .map(|open| format!("windlass: {}", open.with_answers()))
            .collect();
        lines.push(self.deadline_notice());
        lines.join("\n")
    }

    /// What happens without an answer.
    pub(super) fn deadline_notice(&self) -> String {
        messages::answer_deadline(self.deadline, self.remaining)
    }
}

impl DeadlineWatch {
    pub(super) fn new() -> Self {
        let check_at = Instant::now() + FIRST_CHECK;
        Self { check_at, interval: FIRST_CHECK, printed: BTreeSet::new() }
    }

    /// Something happened: the next check is due after a new silence.
    pub(super) fn reset(&mut self) {
        *self = Self { printed: std::mem::take(&mut self.printed), ..Self::new() };
    }

    /// Resolves when a check is due.
    pub(super) fn silence(&self) -> Sleep {
        tokio::time::sleep_until(self.check_at)
    }

    /// Returns the questions with a deadline that were not printed yet.
    pub(super) async fn check(
        &mut self,
        session: &Session,
        setup: &RunSetup,
    ) -> anyhow::Result<Option<TimedQuestions>> {
        self.interval = (self.interval * 2).min(MAX_INTERVAL);
        self.check_at += self.interval;
        let now = session.load_conversation().await?;
        let Some((deadline, at)) = find_deadline(&now) else { return Ok(None) };
        let mut questions = find_open_questions(setup.store.as_ref(), session.lane()).await?;
        questions.retain(|open| self.printed.insert((open.lane.clone(), open.question.id)));
        let left_ms = at.ms_since(SystemClock::start().now());
        let remaining = Duration::from_millis(left_ms);
        Ok((!questions.is_empty()).then_some(TimedQuestions { questions, deadline, remaining }))
    }
}

/// The time until which the run waits for an answer, if it does not wait for as long as it takes.
fn find_deadline(now: &Conversation) -> Option<(AnswerDeadline, UnixMillis)> {
    let run = now.run.as_ref().filter(|_| is_parked(now) || is_waiting_for_children(now))?;
    let wait_ms = now.settings.as_ref()?.limits.cancel_wait_ms;
    if let Some(stop) = run.stop_request {
        return Some((AnswerDeadline::Cancelled, stop.at.plus_ms(wait_ms)));
    }
    if let Some(limit) = run.reached_time_limit {
        return Some((AnswerDeadline::OutOfTime, limit.at.plus_ms(wait_ms)));
    }
    let expires = |question: &Question| question.expires_at;
    let first = Run::open_questions(run).filter_map(expires).min()?;
    Some((AnswerDeadline::Denied, first))
}
