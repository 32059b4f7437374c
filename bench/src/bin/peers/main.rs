//! A turn of the library beside loops without any feature, over HTTP against one model server
//!
//! `usual` is the floor: reqwest, and the history encoded again for every turn. `bare` is the least
//! a loop can do: a body that only grows, on one kept connection. `memory` and `sqlite` are the
//! library with these stores: approvals, budgets, loop detection, a log entry for every step. All
//! contenders alternate, and the ratios are of one lap, so that other load of the machine meets all
//! of them. The model server is a process of its own, and only the client's CPU time is counted.

mod contender;
mod disk_use;
mod library_loop;
mod many_conversations;
mod one_conversation;

use anyhow::{Result, bail};
use windlass_bench::{child_process::ServerProcess, model_server, time_stats};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => report(1_000),
        ["--conversations", number] => report(number.parse()?),
        ["serve"] => model_server::run(),
        ["alone", name, url, laps] => one_conversation::run_alone(name, url, laps.parse()?),
        ["many", name, url, number] => many_conversations::run_child(name, url, number.parse()?),
        other => bail!("`{}`: the only option is --conversations NUMBER", other.join(" ")),
    }
}

fn report(conversations: usize) -> Result<()> {
    let server = ServerProcess::start()?;
    println!("load average: {}\n", time_stats::load_average());
    one_conversation::report(&server)?;
    many_conversations::report(&server, conversations)?;
    disk_use::report(&server)?;
    println!("load average afterwards: {}", time_stats::load_average());
    Ok(())
}
