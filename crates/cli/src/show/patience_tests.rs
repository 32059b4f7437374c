//! When nobody waits any longer.

use windlass::core::ids::{Millis, Seq};
use windlass::core::input::{Failure, FailureClass, Input};
use windlass::core::log::Entry;
use windlass::core::record::Record;
use windlass::core::settings::{Model, Settings};

use super::Patience;

fn failed(at: u64, until: u64, class: FailureClass) -> Entry {
    let failure = Failure { class, message: "no".into(), retry_after_ms: None, raw: None };
    Entry {
        seq: Seq::default(),
        at: Millis(at),
        input: Input::ModelFailed { ask: 1, failure },
        records: vec![Record::Deferred { until: Millis(until), failures: 1 }],
    }
}

fn patience(entries: &[Entry], change: impl FnOnce(&mut Settings)) -> Patience {
    let mut settings = Settings::new(Model::named("m"));
    change(&mut settings);
    let mut patience = Patience::new(&settings);
    entries.iter().for_each(|entry| patience.hear(entry));
    patience
}

#[test]
fn a_server_that_is_not_there_is_waited_for_for_seconds_and_a_busy_one_for_minutes() {
    let soon = |class| [failed(1_000, 2_000, class), failed(2_000, 4_000, class)];
    let late = |class, until| [&soon(class)[..], &[failed(4_000, until, class)]].concat();
    let lost = |entries: &[Entry]| patience(entries, |_| {}).lost().map(|lost| lost.limit);
    assert_eq!(lost(&soon(FailureClass::Absent)), None);
    assert_eq!(lost(&late(FailureClass::Absent, 8_000)), Some("local_wait_ms"));
    assert_eq!(lost(&late(FailureClass::Passing, 8_000)), None);
    assert_eq!(lost(&late(FailureClass::Passing, 200_000)), Some("answer_wait_ms"));
    let left = patience(&soon(FailureClass::Passing), |_| {}).left_ms(Millis(2_000));
    assert_eq!(left, Some(179_000));
}

#[test]
fn nobody_leaves_while_another_model_can_still_be_asked() {
    let entries = [failed(1_000, 900_000, FailureClass::Passing)];
    let other = |settings: &mut Settings| settings.fallback = Some(Model::named("other"));
    assert!(!patience(&entries, other).is_lost());
    assert!(patience(&entries, |_| {}).is_lost());
}
