//! The controls: attacks without the sandbox succeed. One that does not would prove nothing.

use crate::place::{Level, Place, User};
use crate::suite::{Attack, Stop};

/// Attacks that succeed when nothing holds them, one for each kind of success.
const CONTROLS: [(&str, &str); 7] = [
    ("protected files", "echo x > .git/hooks/pre-commit"),
    ("absent files", "mkdir -p .claude; echo {} > .claude/settings.json"),
    ("writes outside", "echo x > ../outside/new"),
    ("writes through a link", "echo x > link/kept"),
    ("reads of secrets", "cat $HOME/vault/id"),
    ("network", "bash -c 'echo x > /dev/tcp/127.0.0.1/PORT'"),
    (
        "git",
        "git init -q src/r; cd src/r; git config core.fsmonitor 'touch ../../../outside/new; false'; git status",
    ),
];

/// Runs the controls; returns how many there are, and how many held.
pub(crate) fn run() -> (usize, usize) {
    let mut held = 0;
    for (class, command) in CONTROLS {
        let place = Place::new(User::Own);
        let attack = Attack { class, command: command.to_owned(), stopped_by: Stop::Kernel };
        if place.try_attack(&attack, Level::Off).is_none() {
            println!("CONTROL HELD {class}: {command}");
            held += 1;
        }
    }
    (CONTROLS.len(), held)
}
