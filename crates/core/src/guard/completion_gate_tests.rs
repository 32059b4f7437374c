use std::sync::Arc;

use crate::guard::completion_gate::{ChecklistItem, ChecklistProgress, CompletionGate};

fn gate(needs: &[(&str, u32)]) -> CompletionGate {
    let need = |(tool, at_least): &(&str, u32)| ChecklistItem {
        tool: Arc::from(*tool),
        at_least: *at_least,
    };
    CompletionGate { checklist: needs.iter().map(need).collect(), ..CompletionGate::default() }
}

fn done(calls: &[(&str, u32)]) -> ChecklistProgress {
    let mut done = ChecklistProgress::default();
    for (tool, times) in calls {
        (0..*times).for_each(|_| done.record_success(&Arc::from(*tool)));
    }
    done
}

#[test]
fn a_checklist_says_what_is_missing_and_nothing_else() {
    let gate = gate(&[("todo_write", 1), ("write_file", 3), ("deploy", 1)]);
    let missing = |calls: &[(&str, u32)]| gate.missing_items(&done(calls));
    assert_eq!(
        missing(&[("todo_write", 1), ("write_file", 2)]).as_deref(),
        Some(
            "the work is not complete: write_file must succeed at least 3 times \
             (so far twice), deploy must succeed at least once (so far never)"
        )
    );
    assert_eq!(missing(&[("todo_write", 1), ("write_file", 4), ("deploy", 1)]), None);
    assert!(missing(&[("read", 99)]).is_some());
}

#[test]
fn any_of_several_tools_counts() {
    let gate = gate(&[("Write|Edit", 2)]);
    assert!(
        gate.is_in_checklist("Write")
            && gate.is_in_checklist("Edit")
            && !gate.is_in_checklist("Write|Edit")
    );
    assert_eq!(gate.missing_items(&done(&[("Write", 1), ("Edit", 1)])), None);
    assert_eq!(
        gate.missing_items(&done(&[("Edit", 1)])).as_deref(),
        Some("the work is not complete: Write or Edit must succeed at least twice (so far once)")
    );
}

#[test]
fn a_gate_of_nothing_lets_everything_through() {
    assert_eq!(CompletionGate::default().missing_items(&ChecklistProgress::default()), None);
    assert_eq!(gate(&[("deploy", 0)]).missing_items(&ChecklistProgress::default()), None);
    assert!(gate(&[("deploy", u32::MAX)]).missing_items(&done(&[("deploy", 5)])).is_some());
}

#[test]
fn only_tools_of_the_checklist_are_counted() {
    let gate = gate(&[("deploy", 1)]);
    assert!(gate.is_in_checklist("deploy") && !gate.is_in_checklist("read"));
}
