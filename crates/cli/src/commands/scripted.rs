//! `windlass scripted`: serves the scripted model over HTTP until a signal arrives.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};
use windlass::SystemClock;
use windlass::scripted::server::{RequestObserver, ScriptedServer, ServedRequest};

use crate::args::ScriptedArgs;
use crate::config::model_selection;
use crate::{messages, terminal};

pub(crate) async fn run(args: &ScriptedArgs) -> anyhow::Result<ExitCode> {
    let script = model_selection::read_script(&args.script)?;
    // Signal handlers are installed before the address is printed.
    let (terminate, interrupt) =
        (listen_for(SignalKind::terminate())?, listen_for(SignalKind::interrupt())?);
    let server = ScriptedServer::bind(SocketAddr::new(parse_host(&args.host)?, args.port)).await?;
    terminal::print_line(&messages::scripted::listening_line(server.address()));
    let clock = Arc::new(SystemClock::start());
    server.serve(script, clock, Arc::new(RequestLog), wait_for_either(terminate, interrupt)).await;
    Ok(ExitCode::SUCCESS)
}

fn parse_host(text: &str) -> anyhow::Result<IpAddr> {
    match text {
        "localhost" => Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        address => address.parse().with_context(|| {
            format!("`{address}` is not an IP address; give --host 127.0.0.1 or --host ::1")
        }),
    }
}

fn listen_for(kind: SignalKind) -> anyhow::Result<Signal> {
    signal(kind).context("cannot install signal handlers")
}

async fn wait_for_either(mut one: Signal, mut other: Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}

/// Prints one line for each request, on standard error.
struct RequestLog;

impl RequestObserver for RequestLog {
    fn on_served(&self, served: &ServedRequest) {
        terminal::print_note(&messages::scripted::request_line(served));
    }
}
