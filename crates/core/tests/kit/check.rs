//! Checks of every log that the kit produced.

use windlass_core::log::entry::Entry;
use windlass_core::message::request;
use windlass_core::message::request_check::check_messages;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::wanted::is_waiting_for_children;
use windlass_core::wanted;

/// Folds every prefix, re-decides every entry, and compares with the state of the driver.
#[track_caller]
pub(crate) fn check_log(log: &[Entry], live: &Conversation) {
    let mut folded = Conversation::default();
    let mut verified = Conversation::default();
    for entry in log {
        let line = entry.encode();
        assert_eq!(Entry::parse(entry.seq, &line).as_ref(), Ok(entry));
        folded.fold(entry).unwrap();
        if let Err(error) = verified.verify(entry) {
            panic!("{error}\n{line}\nwas decided from {verified:#?}");
        }
        assert!(is_acceptable(&folded), "after entry {}: {:?}", entry.seq, refusal(&folded));
    }
    // Volatile entries advance the clock of the driver alone.
    folded.at = live.at;
    assert_eq!(folded, live.without_volatile(), "the fold is not what the driver held");
}

/// Checks the driver's state after every input: a run is never between two phases, and something is
/// in flight, a timer is set, or the run waits for child runs or a human.
#[track_caller]
pub(crate) fn check_state(c: &Conversation) {
    let Some(run) = &c.run else { return };
    assert_ne!(run.phase_name(), "deciding", "{c:#?}");
    let wanted = wanted(c);
    let waits =
        !wanted.effects.is_empty() || wanted.wake_at.is_some() || is_waiting_for_children(c);
    assert!(waits || run.open_questions().next().is_some(), "nothing will ever happen: {c:#?}");
    if let Some(request) = c.model_request() {
        assert_eq!(check_messages(&request.messages()), Ok(()));
    }
}

/// Returns whether the API would accept a request made of this state. A state that makes no request
/// has a transcript that may be empty, and otherwise must be valid too.
pub(crate) fn is_acceptable(c: &Conversation) -> bool {
    c.transcript.segments().is_empty() || refusal(c).is_none()
}

fn refusal(c: &Conversation) -> Option<windlass_core::message::request_check::RequestViolation> {
    check_messages(&request::join_segments(c.transcript.segments().iter())).err()
}
