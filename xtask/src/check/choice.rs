//! Which parts were asked for.

use anyhow::{Context, Result, bail};

use super::parts::{PARTS, Part};

/// What `check` was told to do.
pub(super) enum Choice {
    List,
    Run(Vec<&'static Part>),
}

impl Choice {
    pub(super) fn read(arguments: &[String]) -> Result<Self> {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match words.as_slice() {
            [] => Ok(Self::Run(PARTS.iter().collect())),
            ["--list"] => Ok(Self::List),
            ["--only", name] => Ok(Self::Run(from(name)?.take(1).collect())),
            ["--from", name] => Ok(Self::Run(from(name)?.collect())),
            other => bail!("`check {}`: use --only PART, --from PART or --list", other.join(" ")),
        }
    }
}

fn from(name: &str) -> Result<impl Iterator<Item = &'static Part>> {
    let position = PARTS.iter().position(|part| part.name == name);
    let position = position.with_context(|| unknown(name))?;
    Ok(PARTS.iter().skip(position))
}

fn unknown(name: &str) -> String {
    let names: Vec<_> = PARTS.iter().map(|part| part.name).collect();
    format!("there is no part `{name}`; the parts are {}", names.join(", "))
}
