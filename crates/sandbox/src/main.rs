//! The helper of the sandbox as a program of its own, for applications that do not call
//! [`windlass_sandbox::run_if_requested`] at the beginning of their `main`.

use std::process::ExitCode;

fn main() -> ExitCode {
    windlass_sandbox::run_if_requested().unwrap_or(ExitCode::from(2))
}
