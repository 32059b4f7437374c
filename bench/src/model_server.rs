//! The model server: answers at once, or after as many milliseconds as the path says
//! (`/wait/200/…`). Every reply calls the tool; with `/turns/20/…` the reply after 20 results ends
//! the turn. It serves HTTP/1.1 on one port and HTTP/2 on another.

use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::time_stats::pause;
use anyhow::Result;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::read_job;

/// The stream limit of big providers on one HTTP/2 connection.
const MAX_STREAMS: u32 = 100;

/// Serves until the process ends; prints both addresses first.
pub fn run() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve())
}

async fn serve() -> Result<()> {
    let (one, two) = (bind_listener()?, bind_listener()?);
    println!("{} {}", one.local_addr()?, two.local_addr()?);
    std::io::stdout().flush()?;
    tokio::spawn(serve_http2(two));
    let connections = Arc::new(AtomicUsize::new(0));
    loop {
        let (stream, _) = one.accept().await?;
        let _ = stream.set_nodelay(true);
        connections.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(serve_connection(stream, Arc::clone(&connections)));
    }
}

/// Binds with a large backlog: a thousand concurrent clients must not have to retry after a second.
fn bind_listener() -> Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind("127.0.0.1:0".parse()?)?;
    Ok(socket.listen(16_384)?)
}

async fn serve_connection(mut stream: TcpStream, connections: Arc<AtomicUsize>) {
    let answer = streamed_response(&read_job::model_answer());
    let mut buffer = Vec::with_capacity(64 << 10);
    while let Some(path) = read_request(&mut stream, &mut buffer).await {
        let answer = if path == "/connections" {
            // The connection of this request does not count.
            let count = (connections.swap(0, Ordering::Relaxed) - 1).to_string();
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{count}", count.len())
        } else {
            wait_as_path_says(&path).await;
            match number_after(&path, "turns") {
                Some(turns) => numbered_response(&buffer, turns),
                None => answer.clone(),
            }
        };
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The response to a request of a conversation that ends after this many tool results.
fn numbered_response(request: &[u8], turns: usize) -> String {
    let results = memchr::memmem::find_iter(request, b"\"tool_result\"").count();
    streamed_response(&if results < turns {
        read_job::numbered_answer(results + 1)
    } else {
        read_job::final_answer()
    })
}

fn streamed_response(body: &str) -> String {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}

async fn wait_as_path_says(path: &str) {
    if let Some(ms) = number_after(path, "wait") {
        pause(Duration::from_millis(ms as u64)).await;
    }
}

/// The number in the path after the part with this name.
fn number_after(path: &str, name: &str) -> Option<usize> {
    let mut parts = path.split('/').skip_while(|part| *part != name);
    parts.nth(1)?.parse().ok()
}

/// Reads one request and returns its path.
async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<String> {
    buffer.clear();
    loop {
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
        if let Some(path) = complete_request(buffer) {
            return Some(path);
        }
    }
}

fn complete_request(buffer: &[u8]) -> Option<String> {
    let end = buffer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(buffer.get(..end)?).to_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let whole = buffer.len() >= end + 4 + length.unwrap_or(0);
    whole.then(|| head.split(' ').nth(1).unwrap_or_default().to_owned())
}

async fn serve_http2(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        builder.max_concurrent_streams(MAX_STREAMS);
        tokio::spawn(builder.serve_connection(TokioIo::new(stream), service_fn(answer_http2)));
    }
}

async fn answer_http2(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    use http_body_util::BodyExt;
    let path = request.uri().path().to_owned();
    let _ = request.into_body().collect().await;
    wait_as_path_says(&path).await;
    let mut response = Response::new(Full::new(Bytes::from(read_job::model_answer())));
    let kind = hyper::header::HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, kind);
    Ok(response)
}
