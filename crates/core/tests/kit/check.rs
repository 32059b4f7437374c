//! What must hold of every log the kit produced.

use windlass_core::audit::audit;
use windlass_core::conversation::Conversation;
use windlass_core::log::Entry;
use windlass_core::request;
use windlass_core::wanted;
use windlass_core::wanted::waits_for_children;

/// Folds every prefix, re-decides every entry, and compares with what the driver held.
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
    // Volatile entries move the clock of the driver alone.
    folded.at = live.at;
    assert_eq!(folded, live.without_volatile(), "the fold is not what the driver held");
}

/// What must hold of the driver's state after every input: a run is never between two things, and
/// either something is in the air, or a time is waited for, or children or a human are.
#[track_caller]
pub(crate) fn check_state(c: &Conversation) {
    let Some(run) = &c.run else { return };
    assert_ne!(run.phase_name(), "between", "{c:#?}");
    let wanted = wanted(c);
    let waits = !wanted.effects.is_empty() || wanted.wake_at.is_some() || waits_for_children(c);
    assert!(waits || run.questions().next().is_some(), "nothing will ever happen: {c:#?}");
    if let Some(request) = c.request() {
        assert_eq!(audit(&request.messages()), Ok(()));
    }
}

/// Whether a request made of this state would be accepted by the API. A state that makes no
/// request has a transcript that may be empty, and otherwise must be as good.
pub(crate) fn is_acceptable(c: &Conversation) -> bool {
    c.transcript.segments().is_empty() || refusal(c).is_none()
}

fn refusal(c: &Conversation) -> Option<windlass_core::audit::Refusal> {
    audit(&request::messages(c.transcript.segments().iter())).err()
}
