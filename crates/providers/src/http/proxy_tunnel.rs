//! A `CONNECT` tunnel through an HTTP proxy: after the response to `CONNECT` it only passes bytes.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::api_target::Origin;
use super::dial::connect_tcp;
use super::proxy_rules::ProxyServer;
use crate::error::call_error::CallError;

/// The largest number of bytes of a proxy's response, which has no body.
const MAX_RESPONSE_HEAD_BYTES: usize = 16 << 10;

/// The largest number of characters of a proxy's status line that are quoted.
const MAX_QUOTED_STATUS_CHARS: u64 = 200;

/// Opens a tunnel through the proxy to the server.
pub(super) async fn open_tunnel(
    proxy: &ProxyServer,
    origin: &Origin,
) -> Result<TcpStream, CallError> {
    let mut stream = connect_tcp(&proxy.host, proxy.port).await.map_err(|fault| {
        CallError::Unreachable(format!("{fault} (the proxy set in HTTPS_PROXY)"))
    })?;
    let lost = |error: std::io::Error| {
        CallError::Unreachable(format!(
            "the proxy {}:{} closed the connection: {error}",
            proxy.host, proxy.port
        ))
    };
    stream.write_all(connect_request(proxy, origin).as_bytes()).await.map_err(lost)?;
    let answer = read_response_head(&mut stream).await.map_err(lost)?;
    check_response(proxy, &answer)?;
    Ok(stream)
}

fn connect_request(proxy: &ProxyServer, origin: &Origin) -> String {
    let host = if origin.host.contains(':') {
        format!("[{}]", origin.host)
    } else {
        origin.host.to_string()
    };
    let authority = format!("{host}:{}", origin.port);
    let credential = proxy.credential.as_ref().map_or_else(String::new, |credential| {
        format!("proxy-authorization: Basic {}\r\n", credential.expose())
    });
    format!("CONNECT {authority} HTTP/1.1\r\nhost: {authority}\r\n{credential}\r\n")
}

/// Reads the head of the response. The server only speaks after the client, so no bytes can follow
/// the head.
async fn read_response_head(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        if bytes.len() > MAX_RESPONSE_HEAD_BYTES || stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::Error::other("not a proxy response"));
        }
    }
    Ok(bytes)
}

fn check_response(proxy: &ProxyServer, answer: &[u8]) -> Result<(), CallError> {
    let text = String::from_utf8_lossy(answer);
    let line = text.lines().next().unwrap_or_default();
    let status = line.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok());
    let Some(status) = status.filter(|_| line.starts_with("HTTP/1.")) else {
        let address = format!("{}:{}", proxy.host, proxy.port);
        return Err(CallError::Misconfigured(format!(
            "{address} did not respond like an HTTP proxy; check HTTPS_PROXY"
        )));
    };
    if (200..300).contains(&status) {
        return Ok(());
    }
    let advice = match status {
        407 => "; add user name and password to HTTPS_PROXY: http://user:password@host:port",
        _ => "; check HTTPS_PROXY, or add the server to NO_PROXY",
    };
    let said = windlass_core::message::truncate::truncate_text(line, MAX_QUOTED_STATUS_CHARS);
    let message = format!("the proxy {}:{} answered: {said}", proxy.host, proxy.port);
    let kind = "proxy".to_owned();
    Err(CallError::HttpStatus { status, kind, message, advice, retry_after_ms: None })
}
