//! What a lane is expected to be. Each says what it found when it is not.

use windlass_core::call::CallState;
use windlass_core::conversation::Ended;
use windlass_core::ids::Millis;
use windlass_core::record::Record;
use windlass_core::run::Run;
use windlass_core::stop::StopCause;
use windlass_core::wanted::{is_parked, wanted};

use super::lane::Lane;
use super::view::{effect, messages, tags};

impl Lane {
    /// The last input settled exactly this: tags without versions, in order.
    #[track_caller]
    pub(crate) fn settles(self, expected: &str) -> Self {
        assert_eq!(tags(&self.last), expected);
        self
    }

    /// The last input changed nothing.
    #[track_caller]
    pub(crate) fn ignored(self) -> Self {
        self.settles("")
    }

    /// The last mail was refused, and the reason has these words.
    #[track_caller]
    pub(crate) fn refused(self, words: &str) -> Self {
        let said = self.last.iter().find_map(|record| match record {
            Record::MailRefused { why, .. } => Some(why.clone()),
            _ => None,
        });
        let said = said.unwrap_or_else(|| panic!("not refused: {}", tags(&self.last)));
        assert!(said.contains(words), "{said}");
        self
    }

    #[track_caller]
    pub(crate) fn phase(self, expected: &str) -> Self {
        assert_eq!(self.live.phase_name(), expected);
        self
    }

    pub(crate) fn ended(&self) -> &Ended {
        self.live.last_end.as_ref().expect("no run has ended")
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
        assert_eq!(self.ended().cause, cause, "also {:?}", self.ended().also);
        self
    }

    #[track_caller]
    pub(crate) fn also<const N: usize>(self, causes: [StopCause; N]) -> Self {
        assert_eq!(self.ended().also, causes);
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

    /// What is in the air: `ask 1`, `run 1.0#1`, `before 1.0`, `after 1.0`, `probe 1.0`, `configure`.
    #[track_caller]
    pub(crate) fn wants(self, expected: &str) -> Self {
        let effects: Vec<String> = wanted(&self.live).effects.iter().map(effect).collect();
        assert_eq!(effects.join(", "), expected);
        self
    }

    /// Wanted: to be woken so many milliseconds from now, give or take a fifth.
    #[track_caller]
    pub(crate) fn wakes_in(self, ms: u64) -> Self {
        let due = wanted(&self.live).wake_at.expect("nothing is waited for");
        let pause = due.since(self.now);
        assert!((ms * 4 / 5..=ms * 6 / 5).contains(&pause), "{pause} ms");
        self
    }

    #[track_caller]
    pub(crate) fn wakes_at(self, due: Option<Millis>) -> Self {
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

    /// Somebody is asked for this counsel: `prompt`, `answer`, `compaction` or `summary`.
    #[track_caller]
    pub(crate) fn consults(self, about: &str) -> Self {
        let consulting = self.run().consulting().expect("nobody is consulted");
        assert_eq!(consulting.about.name(), about);
        self
    }

    /// The run is halted with a question that has these words.
    #[track_caller]
    pub(crate) fn asks(self, words: &str) -> Self {
        let question = self.run().questions().next().expect("nobody is asked");
        let said = serde_json::to_string(&question.about).unwrap();
        assert!(said.contains(words), "{said}");
        self
    }

    /// The model is asked, and its last messages hold these words.
    #[track_caller]
    pub(crate) fn tells(self, words: &str) -> Self {
        let all = messages(&self.live).join("\n");
        assert!(all.contains(words), "{words:.80?} is not in\n{}", outline(&all));
        self
    }

    /// The model is not told this.
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

/// The beginning of every line.
fn outline(text: &str) -> String {
    text.lines().map(|line| line.chars().take(100).collect::<String>() + "\n").collect()
}

fn state(state: &CallState) -> &'static str {
    match state {
        CallState::BeforeHook => "before-hook",
        CallState::Unjudged => "unjudged",
        CallState::Referred => "referred",
        CallState::Questioned(_) => "questioned",
        CallState::Away(_) => "away",
        CallState::Ready => "ready",
        CallState::Running { .. } => "running",
        CallState::Resting { .. } => "resting",
        CallState::Lost => "lost",
        CallState::AfterHook(_) => "after-hook",
        CallState::Settled(_) => "settled",
    }
}
