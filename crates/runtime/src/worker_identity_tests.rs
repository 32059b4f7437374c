use super::{has_process_ended, is_process_running, new_worker_id};

#[test]
fn a_living_process_is_not_gone() {
    let mine = new_worker_id();
    assert!(!has_process_ended(&mine) && is_process_running(&mine));
}

// spec: SCALE-01
#[test]
fn names_differ_at_every_start() {
    assert_ne!(new_worker_id(), new_worker_id());
}

#[test]
fn a_process_that_ended_is_gone_and_so_is_one_whose_id_was_reused() {
    let mine = new_worker_id();
    let (head, start) = mine.rsplit_once('+').unwrap();
    let (location, _) = head.rsplit_once('+').unwrap();
    assert!(has_process_ended(&format!("{head}+{start}0")), "same id, another start");
    assert!(has_process_ended(&format!("{location}+4194999+1")), "no such process");
}

#[test]
fn nothing_is_certain_about_what_cannot_be_seen_from_here() {
    for name in ["", "abc", "abc+elsewhere+1+1", "a+b", "a+b+c+d+e"] {
        assert!(!has_process_ended(name) && !is_process_running(name), "{name}");
    }
}
