//! The SDK channel: the Agent SDKs start this program and drive it through standard input and
//! output, one JSON object a line. The channel is a client of the facade like every other front
//! end: prompts are inbox messages, control requests are commands to the session, permission
//! prompts and hook callbacks are questions and reviews that the SDK answers.

mod approvals;
mod background;
mod channel_loop;
mod control_requests;
mod conversation;
mod elicitation;
mod frame_writer;
mod hook_callbacks;
mod host_requests;
mod host_servers;
mod incoming;
mod initialize;
mod initialize_response;
mod input_pump;
mod input_reader;
mod permission_reply;
mod permission_request;
mod permission_updates;
mod prompt_queue;
mod session_state;
mod side_frames;
mod slash_commands;
mod start;
mod transcripts;
mod turn;

use std::process::ExitCode;

use anyhow::bail;

use crate::args::{OutputFormat, PrintArgs};
use crate::exit::OrUsageError;
use frame_writer::FrameWriter;

/// Serves the channel until standard input ends and everything is done.
pub(crate) async fn run(print: PrintArgs) -> anyhow::Result<ExitCode> {
    validate_args(&print).or_usage_error()?;
    let output = FrameWriter::start();
    let served = Box::pin(start::serve(print, output.writer())).await;
    output.finish().await;
    served
}

fn validate_args(print: &PrintArgs) -> anyhow::Result<()> {
    let output = &print.agent.output;
    if output.format() != OutputFormat::StreamJson {
        bail!("--input-format stream-json needs --output-format stream-json");
    }
    if !output.verbose {
        bail!("--output-format stream-json needs --verbose");
    }
    if print.prompt.is_some() {
        bail!("with --input-format stream-json the prompt comes from standard input; leave it out");
    }
    if print.detach {
        bail!("--detach has no meaning with --input-format stream-json; leave it out");
    }
    if print.fork_session && print.resume.is_none() && !print.continue_newest {
        bail!("--fork-session needs a conversation; name it with --resume ID or --continue");
    }
    Ok(())
}
