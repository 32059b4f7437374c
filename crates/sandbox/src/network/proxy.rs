//! The proxy that confined processes reach the network through: HTTP, HTTP CONNECT and SOCKS5 on
//! the loopback interface of their namespace. Its listener is made there and handed to this process,
//! so nothing of the network is in the namespace itself.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};

use super::dialer::{DialError, Dialer};
use super::http_head::{HttpHead, HttpTarget};
use super::{socks, tunnel};

/// Maximum number of connections at once.
const MAX_CONNECTIONS: usize = 128;

/// Maximum time until a connection has said where it leads.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// What serves a confined process; ends with it.
#[derive(Debug, Default)]
pub(crate) struct NetworkTasks(Vec<JoinHandle<()>>);

impl NetworkTasks {
    /// Serves the proxy on a listener.
    pub(crate) fn serve_proxy(&mut self, listener: TcpListener, dialer: Dialer) {
        let serve_one = move |client: TcpStream| {
            let dialer = dialer.clone();
            async move { serve_connection(client, &dialer).await }
        };
        self.0.push(tokio::spawn(accept(listener, serve_one)));
    }

    /// Connects each connection of a listener to a port of this machine.
    pub(crate) fn serve_port(&mut self, listener: TcpListener, port: u16) {
        let serve_one = move |mut client: TcpStream| async move {
            let mut server = TcpStream::connect(("127.0.0.1", port)).await?;
            tokio::io::copy_bidirectional(&mut client, &mut server).await.map(drop)
        };
        self.0.push(tokio::spawn(accept(listener, serve_one)));
    }
}

impl Drop for NetworkTasks {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

/// Serves connections until it is dropped, and them with it.
async fn accept<F>(listener: TcpListener, serve_one: impl Fn(TcpStream) -> F)
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        let Ok((client, _)) = listener.accept().await else { return };
        let serving = serve_one(client);
        connections.spawn(async move {
            // A connection that ends early is the client's concern.
            drop(serving.await);
            drop(permit);
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn serve_connection(mut client: TcpStream, dialer: &Dialer) -> io::Result<()> {
    let mut first = [0];
    let begun = tokio::time::timeout(HEAD_TIMEOUT, client.peek(&mut first)).await;
    if begun.map_err(|_| io::ErrorKind::TimedOut)?? == 0 {
        return Ok(());
    }
    match first {
        [socks::VERSION] => serve_socks(client, dialer).await,
        _ => {
            let head = tokio::time::timeout(HEAD_TIMEOUT, HttpHead::read(&mut client)).await;
            match head.map_err(|_| io::ErrorKind::TimedOut)?? {
                Ok(head) => serve_http(client, dialer, head).await,
                Err(problem) => answer(&mut client, "400 Bad Request", problem).await,
            }
        }
    }
}

async fn serve_socks(mut client: TcpStream, dialer: &Dialer) -> io::Result<()> {
    let target = tokio::time::timeout(HEAD_TIMEOUT, socks::read_target(&mut client)).await;
    let Some((host, port)) = target.map_err(|_| io::ErrorKind::TimedOut)?? else { return Ok(()) };
    match dialer.dial(&host, port).await {
        Ok(server) => {
            client.write_all(&socks::reply(socks::SUCCEEDED)).await?;
            tunnel::relay(client, server, &host, dialer).await
        }
        Err(DialError::Blocked(_)) => client.write_all(&socks::reply(socks::NOT_ALLOWED)).await,
        Err(DialError::Unreachable(_)) => client.write_all(&socks::reply(socks::UNREACHABLE)).await,
    }
}

async fn serve_http(mut client: TcpStream, dialer: &Dialer, head: HttpHead) -> io::Result<()> {
    let HttpTarget { host, port } = &head.target;
    let mut server = match dialer.dial(host, *port).await {
        Ok(server) => server,
        Err(DialError::Blocked(why)) => return answer(&mut client, "403 Forbidden", &why).await,
        Err(DialError::Unreachable(why)) => {
            return answer(&mut client, "502 Bad Gateway", &why).await;
        }
    };
    match &head.forwarded {
        None => {
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
            // What the client sent with its request belongs to the tunnel.
            tunnel::relay_after(&head.rest, client, server, (host, dialer)).await
        }
        Some(request) => {
            server.write_all(request).await?;
            server.write_all(&head.rest).await?;
            tokio::io::copy_bidirectional(&mut client, &mut server).await.map(drop)
        }
    }
}

async fn answer(client: &mut TcpStream, status: &str, text: &str) -> io::Result<()> {
    let length = text.len() + 1;
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    client.write_all(format!("{head}{text}\n").as_bytes()).await?;
    client.shutdown().await?;
    // What the client still sends is read, so that it sees the answer and not a reset.
    let mut rest = client.take(1 << 20);
    tokio::io::copy(&mut rest, &mut tokio::io::sink()).await.map(drop)
}
