//! One turn over a local socket compared with reqwest and a bare loop; 1,000 conversations at once
//!
//! `usual` is what most agents do: reqwest, and the history encoded again for every turn. `bare` is
//! a minimal loop: a body that only grows, on one kept connection. `pooled` is the same loop with the
//! pooled client of hyper-util. `ours` is the adapter. They
//! alternate in one process; for the thousand conversations each has a process of its own. The
//! server is another process.
//!
//! For `valgrind --tool=callgrind`: `turn serve` prints where it listens, and `turn alone NAME URL
//! LAPS` runs one contender alone.

mod adapter_loop;
mod loop_kind;
mod many_conversations;
mod one_conversation;

use anyhow::{Result, bail};
use windlass_bench::{child_process, model_server, time_stats};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => report(&[100, 1_000]),
        ["--sessions", number] => report(&[number.parse()?]),
        ["serve"] => model_server::run(),
        ["one"] => one_conversation::report(&child_process::ServerProcess::start()?),
        ["alone", name, url, laps] => one_conversation::run_alone(name, url, laps.parse()?),
        ["many", name, url, sessions] => {
            many_conversations::run_child(name, url, sessions.parse()?)
        }
        other => bail!("`{}`: the only option is --sessions NUMBER", other.join(" ")),
    }
}

fn report(sessions: &[usize]) -> Result<()> {
    let server = child_process::ServerProcess::start()?;
    println!("load average: {}\n", time_stats::load_average());
    one_conversation::report(&server)?;
    for sessions in sessions {
        many_conversations::report(&server, *sessions)?;
    }
    println!("load average afterwards: {}", time_stats::load_average());
    Ok(())
}
