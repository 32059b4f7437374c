//! One turn over a local socket beside two bare loops, and a thousand conversations at once
//!
//! `usual` is what most agents do: reqwest, and the history encoded anew for every turn. `bare` is
//! the least that works: a body that only grows, on one kept connection. `ours` is the adapter.
//! They take turns in one process; of the thousand each has one of its own. The server is another.
//!
//! For `valgrind --tool=callgrind`: `turn serve` says where it listens, and `turn alone NAME URL LAPS`
//! is one contender with nothing beside it.

mod bare;
mod child;
mod clock;
mod job;
mod many;
mod one;
mod ours;
mod server;
mod usual;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => report(&[100, 1_000]),
        ["--sessions", number] => report(&[number.parse()?]),
        ["serve"] => server::run(),
        ["one"] => one::report(&child::Server::start()?),
        ["alone", name, url, laps] => one::alone(name, url, laps.parse()?),
        ["many", name, url, sessions] => many::child(name, url, sessions.parse()?),
        other => bail!("`{}`: the only option is --sessions NUMBER", other.join(" ")),
    }
}

fn report(sessions: &[usize]) -> Result<()> {
    let server = child::Server::start()?;
    println!("load average: {}\n", clock::load_average());
    one::report(&server)?;
    for sessions in sessions {
        many::report(&server, *sessions)?;
    }
    println!("load average afterwards: {}", clock::load_average());
    Ok(())
}
