//! The controls: attacks without the sandbox succeed. One that does not would prove nothing.

use crate::place::{Level, Place, User};
use crate::suite::{Attack, Stop};

/// Attacks that succeed when nothing holds them, one for each kind of success.
const CONTROLS: [(&str, &str); 8] = [
    ("protected files", "echo x > .git/hooks/pre-commit"),
    ("absent files", "mkdir -p .claude; echo {} > .claude/settings.json"),
    ("writes outside", "echo x > ../outside/new"),
    ("writes through a link", "echo x > link/kept"),
    ("reads of secrets", "cat $HOME/vault/id"),
    ("network", "bash -c 'echo x > /dev/tcp/127.0.0.1/PORT'"),
    (
        "programs of git",
        "git init -q src/r; cd src/r; echo a > f; git add f; echo b > f; \
         git config diff.external 'touch ../../../outside/new; false'; git diff; true",
    ),
    (
        "processes that stay",
        "setsid -f env -i /bin/sh -c 'for i in 1 2 3 4 5 6 7 8 9; do date > src/alive; sleep 0.3; done' \
         </dev/null >/dev/null 2>&1; sleep 0.5",
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
