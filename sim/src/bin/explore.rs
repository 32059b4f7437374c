//! `explore`: walks every configuration and checks every invariant in every state.
//!
//! `--list` names configurations and invariants, `--config NAME` walks one, `--mutants` plants bugs
//! and requires that each is found.

use std::process::ExitCode;

use windlass_sim::explore;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        [] => explore::explore_all(),
        ["--list"] => Ok(explore::list()),
        ["--mutants"] => explore::test_all_mutants(),
        ["--config", name] => explore::explore_one(name),
        _ => Err("usage: explore [--list | --mutants | --config NAME]".to_owned()),
    };
    match result {
        Ok(text) => tell(&text, ExitCode::SUCCESS),
        Err(text) => tell(&text, ExitCode::FAILURE),
    }
}

fn tell(text: &str, code: ExitCode) -> ExitCode {
    println!("{text}");
    code
}
