//! `windlass serve`: serves the HTTP API and, unless told otherwise, works on the conversations of
//! the store.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use tokio::signal::unix::{Signal, SignalKind, signal};
use windlass::ports::Clock;
use windlass::{StoreStatus, SystemClock, Windlass, WorkerSettings};
use windlass_server::{AccessToken, RemoteTransport, Server, ServerConfig, StopHandle, TlsFiles};

use crate::api_presenter::ApiPresenter;
use crate::args::{ServeArgs, WhenAsked};
use crate::commands::dashboard;
use crate::commands::worker::{EXIT_INTERRUPTED, resume_policy};
use crate::config::{config_toml, paths};
use crate::exit::OrUsageError;
use crate::outbound_requests::OutboundRequests;
use crate::service_state::{ServiceState, report_state};
use crate::{messages, setup, terminal};

/// The file of the token in the state folder.
pub(crate) const TOKEN_FILE: &str = "server-token";

pub(crate) async fn run(mut args: ServeArgs) -> anyhow::Result<ExitCode> {
    let config = server_config(&args).or_usage_error()?;
    // A server has no terminal: questions are parked, and answered through the API.
    args.agent.permissions.when_asked.get_or_insert(WhenAsked::Park);
    let signals = (listen_for(SignalKind::terminate())?, listen_for(SignalKind::interrupt())?);
    let setup = Box::pin(setup::start_for_service(&args.agent)).await?;
    let presenter =
        Arc::new(ApiPresenter { agent: args.agent.clone(), store: Arc::clone(&setup.store) });
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let fetcher = config_toml::read()?.web.webhook_fetcher(&clock);
    let outbound = Arc::new(OutboundRequests::new(fetcher));
    let server = Server::bind(&config, setup.windlass.clone(), presenter, outbound).await?;
    let stop = server.stop_handle();
    let store = setup::store_path(&args.agent.store)?;
    terminal::print_note(&messages::server_started(&store, &token_file(&args)?));
    terminal::print_line(&server.url());
    report_state(ServiceState::Ready);
    // A server works without a place to remember its address in.
    let _ = dashboard::remember_address(&server.url());
    if args.open {
        dashboard::open_own(&server.url(), &token_file(&args)?)?;
    }
    let grace_ms = args.grace_seconds.saturating_mul(1_000);
    tokio::spawn(stop_on_signal(signals, setup.windlass.clone(), stop.clone(), grace_ms));
    let hook_messages = Arc::clone(&setup.hook_messages);
    tokio::spawn(async move {
        loop {
            terminal::print_note(&messages::hook_message(&hook_messages.next().await));
        }
    });
    let serving = tokio::spawn(server.serve());
    if !args.no_worker {
        let times =
            WorkerSettings { resume: resume_policy(args.resume), ..WorkerSettings::default() };
        let tell = |news: StoreStatus<'_>| terminal::print_note(&messages::store_status(news));
        let worked = setup.windlass.run_worker_with_observer(times, &tell).await;
        // A store that cannot be worked on cannot be served either.
        stop.stop();
        worked?;
    }
    serving.await.context("the server ended unexpectedly")?;
    Ok(ExitCode::SUCCESS)
}

/// Checks what would let others in before anything is started.
fn server_config(args: &ServeArgs) -> anyhow::Result<ServerConfig> {
    let is_remote = !args.listen.ip().is_loopback();
    if is_remote && args.token_file.is_none() {
        bail!(messages::serve_without_token(args.listen));
    }
    if let Some(host) = args.allowed_hosts.iter().find(|host| !is_host(host)) {
        bail!(messages::not_a_host(host));
    }
    let files = args.tls_cert.clone().zip(args.tls_key.clone());
    let path = token_file(args)?;
    let token = match &args.token_file {
        Some(path) => AccessToken::read(path)?,
        None => AccessToken::read_or_create(&path)?,
    };
    let config = ServerConfig {
        listen: args.listen,
        token,
        tls: files.map(|(certificate, key)| TlsFiles { certificate, key }),
        allowed_hosts: args.allowed_hosts.clone(),
        requests_per_second: args.requests_per_second,
    };
    if config.remote_transport() == RemoteTransport::PlainText && !args.insecure_http {
        bail!(messages::serve_without_tls(args.listen));
    }
    Ok(config)
}

fn token_file(args: &ServeArgs) -> anyhow::Result<PathBuf> {
    match &args.token_file {
        Some(path) => Ok(path.clone()),
        None => Ok(paths::state_folder()?.join(TOKEN_FILE)),
    }
}

/// Returns whether this is `HOST` or `HOST:PORT`: an address with a scheme or a path would never
/// match.
fn is_host(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']'))
}

fn listen_for(kind: SignalKind) -> anyhow::Result<Signal> {
    signal(kind).context("cannot install signal handlers")
}

/// Stops at the first signal; a second one ends the process at once, and calls in flight are
/// recovered as after a crash.
async fn stop_on_signal(
    (mut terminate, mut interrupt): (Signal, Signal),
    windlass: Windlass,
    stop: StopHandle,
    grace_ms: u64,
) {
    for is_first in [true, false] {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        if is_first {
            terminal::print_note(messages::WORKER_STOPPING);
            report_state(ServiceState::Stopping);
            stop.stop();
            windlass.hand_over_within(grace_ms);
        }
    }
    std::process::exit(EXIT_INTERRUPTED);
}
