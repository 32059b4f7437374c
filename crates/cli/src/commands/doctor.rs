//! `windlass doctor`: whether everything is in order.

use std::process::ExitCode;

use serde::Serialize;

use crate::look::args::DoctorArgs;
use crate::look::doctor::{self, Check, Health};
use crate::look::paper::Paper;
use crate::show;

#[derive(Serialize)]
struct Whole<'a> {
    healthy: bool,
    checks: &'a [Check],
}

pub(crate) async fn doctor(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let checks = doctor::examine(args).await;
    let healthy = checks.iter().all(|check| check.health != Health::Broken);
    if args.json {
        show::line(&serde_json::to_string(&Whole { healthy, checks: &checks })?);
    } else {
        let paper = Paper::stdout();
        checks.iter().for_each(|check| show::line(&check.line(paper)));
    }
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
