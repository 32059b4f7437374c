//! Arguments of `cargo xtask check`.

use anyhow::{Context, Result, bail};

use super::check_parts::{CHECK_PARTS, CheckPart};

/// What `check` should do.
pub(super) enum CheckArgs {
    List,
    Run(Vec<&'static CheckPart>),
}

impl CheckArgs {
    pub(super) fn parse(arguments: &[String]) -> Result<Self> {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match words.as_slice() {
            [] => Ok(Self::Run(CHECK_PARTS.iter().collect())),
            ["--list"] => Ok(Self::List),
            ["--only", name] => Ok(Self::Run(parts_from(name)?.take(1).collect())),
            ["--from", name] => Ok(Self::Run(parts_from(name)?.collect())),
            other => bail!("`check {}`: use --only PART, --from PART or --list", other.join(" ")),
        }
    }
}

fn parts_from(name: &str) -> Result<impl Iterator<Item = &'static CheckPart>> {
    let position = CHECK_PARTS.iter().position(|part| part.name == name);
    let position = position.with_context(|| unknown_part(name))?;
    Ok(CHECK_PARTS.iter().skip(position))
}

fn unknown_part(name: &str) -> String {
    let names: Vec<_> = CHECK_PARTS.iter().map(|part| part.name).collect();
    format!("there is no part `{name}`; the parts are {}", names.join(", "))
}
