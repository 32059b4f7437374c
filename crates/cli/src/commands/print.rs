//! `windlass -p`: one prompt, one result.

use std::io::Read;
use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::args::Print;
use crate::{setup, show};

/// Prompts larger than this are refused.
const PROMPT_BYTES: u64 = 16 << 20;

pub(crate) async fn print(print: Print) -> anyhow::Result<ExitCode> {
    let prompt = prompt(print.prompt)?;
    let conversation = print.conversation.unwrap_or_else(setup::new_conversation);
    let windlass = setup::start(&print.agent).await?;
    let session = windlass.session(conversation);
    let run = session.send(&prompt).await?;
    show::watch(run, &session, print.agent.output_format).await
}

fn prompt(given: Option<String>) -> anyhow::Result<String> {
    let prompt = match given.as_deref() {
        None => bail!("there is no prompt; say `windlass -p \"what is to be done\"`"),
        Some("-") => from_stdin()?,
        Some(text) => text.to_owned(),
    };
    if prompt.trim().is_empty() {
        bail!("the prompt is empty; say what is to be done");
    }
    Ok(prompt)
}

fn from_stdin() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let mut input = std::io::stdin().take(PROMPT_BYTES + 1);
    input.read_to_end(&mut bytes).context("the prompt could not be read from standard input")?;
    if bytes.len() as u64 > PROMPT_BYTES {
        bail!(
            "the prompt is larger than {} MiB; put it into a file and name the file",
            PROMPT_BYTES >> 20
        );
    }
    String::from_utf8(bytes).context("the prompt is not valid UTF-8; convert it first")
}
