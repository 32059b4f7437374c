//! Expectations about a lane. Each says what it found when it fails.

use windlass_core::call::call_state::CallState;
use windlass_core::log::ids::UnixMillis;
use windlass_core::log::record::Record;
use windlass_core::run::active_run::Run;
use windlass_core::run::conversation::RunEnd;
use windlass_core::run::wanted::{is_parked, wanted};
use windlass_core::stop::StopCause;

use super::lane::Lane;
use super::view::{effect, messages, tags};

impl Lane {
    /// The last input yielded exactly these records: tags without versions, in order.
    #[track_caller]
    pub(crate) fn records(self, expected: &str) -> Self {
        assert_eq!(tags(&self.last), expected);
        self
    }

    /// The last input changed nothing.
    #[track_caller]
    pub(crate) fn records_nothing(self) -> Self {
        self.records("")
    }

    /// The last command was rejected with this code.
    #[track_caller]
    pub(crate) fn command_rejected(self, code: &str) -> Self {
        let said = self.last.iter().find_map(|record| match record {
            Record::CommandRejected { reason, .. } => Some(reason.as_str()),
            _ => None,
        });
        let output = said.unwrap_or_else(|| panic!("not refused: {}", tags(&self.last)));
        assert_eq!(output, code);
        self
    }

    #[track_caller]
    pub(crate) fn phase(self, expected: &str) -> Self {
        assert_eq!(self.live.phase_name(), expected);
        self
    }

    pub(crate) fn ended(&self) -> &RunEnd {
        self.live.last_run_end.as_ref().expect("no run has ended")
    }

    /// The last run ended for this cause, and none is active.
    #[track_caller]
    pub(crate) fn ends(self, cause: StopCause) -> Self {
        assert_eq!(self.live.phase_name(), "idle");
        self.ended_for(cause)
    }

    /// The last run ended for this cause; another may be active.
    #[track_caller]
    pub(crate) fn ended_for(self, cause: StopCause) -> Self {
        assert_eq!(self.ended().cause, cause, "also {:?}", self.ended().other_causes);
        self
    }

    #[track_caller]
    pub(crate) fn also<const N: usize>(self, causes: [StopCause; N]) -> Self {
        assert_eq!(self.ended().other_causes, causes);
        self
    }

    #[track_caller]
    pub(crate) fn saying(self, text: &str) -> Self {
        assert_eq!(&*self.ended().text, text);
        self
    }

    /// What the model sees, a line per message.
    #[track_caller]
    pub(crate) fn shows<const N: usize>(self, lines: [&str; N]) -> Self {
        assert_eq!(messages(&self.live), lines);
        self
    }

    /// What the model sees last.
    #[track_caller]
    pub(crate) fn shows_last(self, line: &str) -> Self {
        let messages = messages(&self.live);
        assert_eq!(messages.last().map(String::as_str), Some(line), "{messages:#?}");
        self
    }

    /// The effects in flight: `model 1`, `run 1.0#1`, `pre-hook 1.0`, `post-hook 1.0`, `probe 1.0`,
    /// `record settings`.
    #[track_caller]
    pub(crate) fn wants(self, expected: &str) -> Self {
        let effects: Vec<String> = wanted(&self.live).effects.iter().map(effect).collect();
        assert_eq!(effects.join(", "), expected);
        self
    }

    /// The next timer is due in so many milliseconds, give or take a fifth.
    #[track_caller]
    pub(crate) fn wakes_in(self, ms: u64) -> Self {
        let due = wanted(&self.live).wake_at.expect("nothing is waited for");
        let pause = due.ms_since(self.now);
        assert!((ms * 4 / 5..=ms * 6 / 5).contains(&pause), "{pause} ms");
        self
    }

    #[track_caller]
    pub(crate) fn wakes_at(self, due: Option<UnixMillis>) -> Self {
        assert_eq!(wanted(&self.live).wake_at, due);
        self
    }

    /// States of the open round's calls.
    #[track_caller]
    pub(crate) fn calls_are(self, expected: &str) -> Self {
        let round = self.live.run.as_ref().and_then(Run::round).expect("no round is open");
        let states: Vec<&str> = round.calls.iter().map(|call| state(&call.state)).collect();
        assert_eq!(states.join(" "), expected);
        self
    }

    #[track_caller]
    pub(crate) fn parked(self) -> Self {
        assert!(is_parked(&self.live), "{}", self.live.phase_name());
        self
    }

    #[track_caller]
    pub(crate) fn not_parked(self) -> Self {
        assert!(!is_parked(&self.live));
        self
    }

    /// How many records of this tag the log holds.
    pub(crate) fn count(&self, tag: &str) -> usize {
        let records = self.log.iter().flat_map(|entry| &entry.records);
        records.filter(|record| super::view::tag(record) == tag).count()
    }

    /// This review is pending: `prompt`, `answer`, `compaction` or `summary`.
    #[track_caller]
    pub(crate) fn consults(self, about: &str) -> Self {
        let consulting = self.run().pending_review().expect("nobody is consulted");
        assert_eq!(consulting.review.name(), about);
        self
    }

    /// The run is paused with a question that contains these words.
    #[track_caller]
    pub(crate) fn asks(self, words: &str) -> Self {
        let question = self.run().open_questions().next().expect("nobody is asked");
        let output = serde_json::to_string(&question.kind).unwrap();
        assert!(output.contains(words), "{output}");
        self
    }

    /// A model call is in flight, and its last messages contain these words.
    #[track_caller]
    pub(crate) fn tells(self, words: &str) -> Self {
        let all = messages(&self.live).join("\n");
        assert!(all.contains(words), "{words:.80?} is not in\n{}", outline(&all));
        self
    }

    /// The request does not contain these words.
    #[track_caller]
    pub(crate) fn hides(self, words: &str) -> Self {
        let all = messages(&self.live).join("\n");
        assert!(!all.contains(words), "{words:.80?} is in\n{}", outline(&all));
        self
    }

    /// Checks anything else, in the chain.
    pub(crate) fn so(self, check: impl FnOnce(&Self)) -> Self {
        check(&self);
        self
    }

    pub(crate) fn run(&self) -> &Run {
        self.live.run.as_ref().expect("no run is active")
    }
}

/// Returns the beginning of every line.
fn outline(text: &str) -> String {
    text.lines().map(|line| line.chars().take(100).collect::<String>() + "\n").collect()
}

fn state(state: &CallState) -> &'static str {
    match state {
        CallState::AwaitingPreHook => "awaiting-pre-hook",
        CallState::AwaitingPermission => "awaiting-permission",
        CallState::AwaitingClassifier => "awaiting-classifier",
        CallState::AwaitingHuman(_) => "awaiting-human",
        CallState::AwaitingChildren(_) => "awaiting-children",
        CallState::Ready => "ready",
        CallState::Running { .. } => "running",
        CallState::AwaitingRetry { .. } => "awaiting-retry",
        CallState::Lost => "lost",
        CallState::AwaitingPostHook(_) => "awaiting-post-hook",
        CallState::Finished(_) => "finished",
    }
}
