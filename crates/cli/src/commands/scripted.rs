//! `windlass scripted`: the scripted model on a socket, until it is told to stop.

mod words;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};
use windlass::SystemClock;
use windlass::scripted::server::{Served, Server, Watch};

use crate::args::ScriptedArgs;
use crate::settle::model;
use crate::show;

pub(crate) async fn scripted(args: &ScriptedArgs) -> anyhow::Result<ExitCode> {
    let script = model::read_script(&args.script)?;
    // Listened for before anybody can know that we are here.
    let (terminate, interrupt) = (on(SignalKind::terminate())?, on(SignalKind::interrupt())?);
    let server = Server::bind(SocketAddr::new(host(&args.host)?, args.port)).await?;
    show::line(&words::listening(server.address()));
    let clock = Arc::new(SystemClock::start());
    server.serve(script, clock, Arc::new(Log), either(terminate, interrupt)).await;
    Ok(ExitCode::SUCCESS)
}

fn host(text: &str) -> anyhow::Result<IpAddr> {
    match text {
        "localhost" => Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        address => address.parse().with_context(|| {
            format!("`{address}` is no address; give --host 127.0.0.1 or --host ::1")
        }),
    }
}

fn on(kind: SignalKind) -> anyhow::Result<Signal> {
    signal(kind).context("signals cannot be received")
}

async fn either(mut one: Signal, mut other: Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}

/// One line for each request, on standard error.
struct Log;

impl Watch for Log {
    fn served(&self, served: &Served) {
        show::note(&words::served(served));
    }
}
