//! `windlass models`: providers and models, with windows, prices and keys.

use std::process::ExitCode;

use crate::look::args::ModelsArgs;
use crate::look::models::Catalogue;
use crate::look::paper::Paper;
use crate::settle::config;
use crate::show;

pub(crate) fn models(args: &ModelsArgs) -> anyhow::Result<ExitCode> {
    let catalogue = Catalogue::read(&config::read()?)?;
    let lines = if args.json { catalogue.json()? } else { catalogue.lines(Paper::stdout()) };
    lines.iter().for_each(|line| show::line(line));
    Ok(ExitCode::SUCCESS)
}
