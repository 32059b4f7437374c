//! What the scripted server says to people, and to the program that started it.

use std::net::SocketAddr;

use windlass::scripted::server::{Outcome, Served};

/// Where it listens: the one line that a program which starts it waits for.
pub(super) fn listening(address: SocketAddr) -> String {
    format!("listening on http://{address}")
}

/// What came of a request.
pub(super) fn served(served: &Served) -> String {
    let Served { method, path, outcome, took_ms } = served;
    format!("{method} {path} {} ({took_ms} ms)", came_of(outcome))
}

fn came_of(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Answered { status, because } if because.is_empty() => status.to_string(),
        Outcome::Answered { status, because } => format!("{status} {}", one_line(because)),
        Outcome::Cut => "200 cut".to_owned(),
        Outcome::Failed { status } => format!("200 failed with {status}"),
        Outcome::Closed => "closed without an answer".to_owned(),
        Outcome::Left => "the client left".to_owned(),
    }
}

/// The first line, with nothing in it that would move a cursor.
fn one_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
