use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::clock::measure_time;
use crate::invocation::Invocation;

use super::build_command;
use super::guard::GroupGuard;

/// A group of three processes that hold their output open for a minute.
const FAMILY: &str = "echo ready; sleep 60 & sleep 60 & wait";

fn family(script: &str) -> (Child, BufReader<impl Read>) {
    let mut shell = build_command(&Invocation::new("sh", &["-c", script]));
    let mut child = shell.stdout(Stdio::piped()).process_group(0).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    (child, output)
}

/// The pipe ends when the last process that holds it has died, grandchildren included.
fn time_until_all_are_gone(mut output: impl Read) -> Duration {
    measure_time(|| output.read_to_end(&mut Vec::new()).unwrap()).1
}

#[test]
fn a_strike_ends_the_whole_group() {
    let (mut child, output) = family(FAMILY);
    GroupGuard::watch_group(child.id()).unwrap().kill_group().unwrap();
    assert!(time_until_all_are_gone(output) < Duration::from_secs(30));
    assert!(!child.wait().unwrap().success());
}

#[test]
fn losing_the_guard_is_a_strike() {
    let (mut child, output) = family(FAMILY);
    drop(GroupGuard::watch_group(child.id()).unwrap());
    assert!(time_until_all_are_gone(output) < Duration::from_secs(30));
    assert!(!child.wait().unwrap().success());
}

#[test]
fn a_guard_that_stands_down_harms_nobody() {
    let (mut child, output) = family("echo ready; sleep 0.3");
    GroupGuard::watch_group(child.id()).unwrap().stand_down().unwrap();
    time_until_all_are_gone(output);
    assert!(child.wait().unwrap().success());
}
