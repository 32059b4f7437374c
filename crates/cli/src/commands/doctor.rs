//! `windlass doctor`: checks the installation, the store and the configuration.

use std::process::ExitCode;

use serde::Serialize;

use crate::args::inspect_args::DoctorArgs;
use crate::inspect::doctor::{self, CheckHealth, DoctorCheck};
use crate::terminal::{self, OutputStyle};

#[derive(Serialize)]
struct DoctorJson<'a> {
    healthy: bool,
    checks: &'a [DoctorCheck],
}

pub(crate) async fn run(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let checks = doctor::run_checks(args).await;
    let healthy = checks.iter().all(|check| check.health != CheckHealth::Broken);
    if args.json {
        terminal::print_line(&serde_json::to_string(&DoctorJson { healthy, checks: &checks })?);
    } else {
        let style = OutputStyle::stdout();
        checks.iter().for_each(|check| terminal::print_line(&check.to_line(style)));
    }
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
