//! `windlass mcp serve`: an MCP server over standard input and output, whose tools start durable
//! runs.

use std::io::{self, BufReader};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};
use windlass::ports::{BoxFuture, RunInfo, Store};
use windlass::{DriveError, OpenQuestion, StoreStatus, WorkerSettings};
use windlass_mcp_server::{McpService, RunPresenter, serve_lines};

use crate::args::{McpServeArgs, WhenAsked};
use crate::commands::explain::read_explanation;
use crate::inspect::history::ConversationHistory;
use crate::{messages, setup, terminal};

/// Bytes that are read from the client at once.
const READ_BYTES: usize = 64 << 10;

pub(super) async fn run(args: McpServeArgs) -> anyhow::Result<ExitCode> {
    let McpServeArgs { no_worker, grace_seconds, mut agent } = args;
    // The client is asked: it finds the question with `follow_run`.
    agent.permissions.when_asked.get_or_insert(WhenAsked::Park);
    let mut terminate =
        signal(SignalKind::terminate()).context("cannot install signal handlers")?;
    let mut interrupt =
        signal(SignalKind::interrupt()).context("cannot install signal handlers")?;
    let setup = Box::pin(setup::start(&agent)).await?;
    let presenter = Arc::new(StorePresenter { store: Arc::clone(&setup.store) });
    let service = McpService::new(setup.windlass.clone(), presenter);
    let windlass = setup.windlass.clone();
    let hook_messages = Arc::clone(&setup.hook_messages);
    tokio::spawn(async move {
        loop {
            terminal::print_note(&messages::hook_message(&hook_messages.next().await));
        }
    });
    let serving = async move {
        let input = || Box::new(BufReader::with_capacity(READ_BYTES, io::stdin())) as Box<_>;
        tokio::select! {
            () = serve_lines(service, input, io::stdout()) => {}
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        windlass.hand_over_within(grace_seconds.saturating_mul(1_000));
    };
    if no_worker {
        serving.await;
        return Ok(ExitCode::SUCCESS);
    }
    tokio::spawn(serving);
    let tell = |news: StoreStatus<'_>| terminal::print_note(&messages::store_status(news));
    setup.windlass.run_worker_with_observer(WorkerSettings::default(), &tell).await?;
    Ok(ExitCode::SUCCESS)
}

/// Presents the runs of a store with the sentences of the commands.
pub(crate) struct StorePresenter {
    pub(crate) store: Arc<dyn Store>,
}

impl RunPresenter for StorePresenter {
    fn question_text(&self, open: &OpenQuestion) -> String {
        messages::question_text(&open.question.kind, &open.conversation)
    }

    fn explain(&self, run: RunInfo) -> BoxFuture<'_, Result<Value, DriveError>> {
        Box::pin(async move {
            let history = ConversationHistory::load(self.store.as_ref(), run.lane.clone()).await?;
            let explained = read_explanation(self.store.as_ref(), &history, &run.run).await?;
            // The command prints the same as JSON, so it can be encoded.
            Ok(serde_json::to_value(&explained).unwrap_or_default())
        })
    }
}
