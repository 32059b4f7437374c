//! The wait limit of a client.

use windlass::core::log::entry::Entry;
use windlass::core::log::ids::{Seq, UnixMillis};
use windlass::core::log::input::{FailureClass, Input, ModelFailure};
use windlass::core::log::record::Record;
use windlass::core::settings::conversation_settings::{ModelSpec, Settings};

use super::RetryTimeout;

fn failed(at: u64, until: u64, class: FailureClass) -> Entry {
    let failure = ModelFailure { class, message: "no".into(), retry_after_ms: None, raw: None };
    Entry {
        seq: Seq::default(),
        at: UnixMillis(at),
        input: Input::ModelFailed { model_call: 1, failure },
        records: vec![Record::ModelRetryScheduled { until: UnixMillis(until), failures: 1 }],
    }
}

fn patience(entries: &[Entry], change: impl FnOnce(&mut Settings)) -> RetryTimeout {
    let mut settings = Settings::new(ModelSpec::with_defaults("m"));
    change(&mut settings);
    let mut patience = RetryTimeout::new(&settings);
    entries.iter().for_each(|entry| patience.observe(entry));
    patience
}

#[test]
fn a_server_that_is_not_there_is_waited_for_for_seconds_and_a_busy_one_for_minutes() {
    let soon = |class| [failed(1_000, 2_000, class), failed(2_000, 4_000, class)];
    let late = |class, until| [&soon(class)[..], &[failed(4_000, until, class)]].concat();
    let lost =
        |entries: &[Entry]| patience(entries, |_| {}).exceeded_limit().map(|lost| lost.limit);
    assert_eq!(lost(&soon(FailureClass::ServerNotRunning)), None);
    assert_eq!(lost(&late(FailureClass::ServerNotRunning, 8_000)), Some("local_wait_ms"));
    assert_eq!(lost(&late(FailureClass::Transient, 8_000)), None);
    assert_eq!(lost(&late(FailureClass::Transient, 200_000)), Some("answer_wait_ms"));
    let soon = soon(FailureClass::Transient);
    let note = patience(&soon, |_| {}).retry_note(&soon[1]).unwrap();
    assert_eq!((note.in_ms, note.gives_up_in_ms), (2_000, Some(179_000)));
}

#[test]
fn nobody_leaves_while_another_model_can_still_be_asked() {
    let entries = [failed(1_000, 900_000, FailureClass::Transient)];
    let other =
        |settings: &mut Settings| settings.fallback = Some(ModelSpec::with_defaults("other"));
    assert!(!patience(&entries, other).is_exceeded());
    assert!(patience(&entries, |_| {}).is_exceeded());
}
