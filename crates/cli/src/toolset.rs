//! The tools of a conversation: the standard set, as far as it is offered.

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use windlass::core::gate::Output;
use windlass::core::settings::Settings;
use windlass::{Builder, SystemClock};

use crate::args::AgentArgs;

/// Adds the tools that are offered.
pub(crate) fn add(
    builder: Builder,
    args: &AgentArgs,
    workspace: &Path,
    settings: &mut Settings,
) -> anyhow::Result<Builder> {
    todo!()
}
