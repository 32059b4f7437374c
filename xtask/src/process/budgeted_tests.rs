use std::time::Duration;

use crate::clock::measure_time;
use crate::invocation::Invocation;

use super::{RunResult, run_within};

const AMPLE: Duration = Duration::from_secs(60);

fn shell(script: &str) -> Invocation {
    Invocation::new("sh", &["-c", script])
}

#[test]
fn success_and_failure_are_told_apart() {
    assert_eq!(run_within(&[shell("exit 0")], AMPLE).unwrap(), RunResult::Passed);
    assert_eq!(run_within(&[shell("exit 3")], AMPLE).unwrap(), RunResult::Failed { code: 3 });
}

#[test]
fn a_death_by_signal_is_reported_as_a_shell_would() {
    let ended = run_within(&[shell("kill -s TERM $$")], AMPLE).unwrap();
    assert_eq!(ended, RunResult::Failed { code: 143 });
}

#[test]
fn the_first_failure_stops_the_rest() {
    let ended = run_within(&[shell("exit 4"), shell("exit 5")], AMPLE).unwrap();
    assert_eq!(ended, RunResult::Failed { code: 4 });
}

#[test]
fn over_budget_ends_at_once() {
    let (ended, took) =
        measure_time(|| run_within(&[shell("sleep 60")], Duration::from_millis(200)));
    assert_eq!(ended.unwrap(), RunResult::OverBudget);
    assert!(took < Duration::from_secs(30));
}

#[test]
fn the_budget_is_shared() {
    let nap = shell("sleep 0.4");
    let ended = run_within(&[nap.clone(), nap.clone(), nap], Duration::from_millis(900));
    assert_eq!(ended.unwrap(), RunResult::OverBudget);
}

#[test]
fn the_environment_reaches_the_program() {
    let asked = || shell("test \"$COLOUR\" = blue");
    assert_eq!(run_within(&[asked()], AMPLE).unwrap(), RunResult::Failed { code: 1 });
    let told = asked().with_variable("COLOUR", "blue");
    assert_eq!(run_within(&[told], AMPLE).unwrap(), RunResult::Passed);
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let error = run_within(&[Invocation::new("no-such-program", &[])], AMPLE).unwrap_err();
    assert!(error.to_string().contains("no-such-program"));
}
