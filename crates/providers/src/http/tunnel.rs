//! A line through a proxy: it is asked to connect, and from then on only passes bytes.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::connect::reach;
use super::proxies::Proxy;
use super::target::Origin;
use crate::fault::Fault;

/// Bytes of a proxy's answer. There is no body to it.
const ANSWER_BYTES: usize = 16 << 10;

/// Characters of a proxy's reason that are worth showing.
const SHOWN_CHARS: u64 = 200;

/// A line to the server that the proxy made.
pub(super) async fn through(proxy: &Proxy, origin: &Origin) -> Result<TcpStream, Fault> {
    let mut stream = reach(&proxy.host, proxy.port).await.map_err(|fault| {
        Fault::Unreachable(format!("{fault} (this is the proxy of HTTPS_PROXY)"))
    })?;
    let lost = |error: std::io::Error| {
        Fault::Unreachable(format!("the proxy {}:{} hung up: {error}", proxy.host, proxy.port))
    };
    stream.write_all(asking(proxy, origin).as_bytes()).await.map_err(lost)?;
    let answer = answer(&mut stream).await.map_err(lost)?;
    judge(proxy, &answer)?;
    Ok(stream)
}

fn asking(proxy: &Proxy, origin: &Origin) -> String {
    let host = if origin.host.contains(':') {
        format!("[{}]", origin.host)
    } else {
        origin.host.to_string()
    };
    let place = format!("{host}:{}", origin.port);
    let credential = proxy.credential.as_ref().map_or_else(String::new, |credential| {
        format!("proxy-authorization: Basic {}\r\n", credential.expose())
    });
    format!("CONNECT {place} HTTP/1.1\r\nhost: {place}\r\n{credential}\r\n")
}

/// The head of the answer. The server speaks only after us, so nothing can come behind it.
async fn answer(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        if bytes.len() > ANSWER_BYTES || stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::Error::other("it did not answer as a proxy does"));
        }
    }
    Ok(bytes)
}

fn judge(proxy: &Proxy, answer: &[u8]) -> Result<(), Fault> {
    let text = String::from_utf8_lossy(answer);
    let line = text.lines().next().unwrap_or_default();
    let status = line.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok());
    let Some(status) = status.filter(|_| line.starts_with("HTTP/1.")) else {
        let place = format!("{}:{}", proxy.host, proxy.port);
        return Err(Fault::Misconfigured(format!(
            "{place} did not answer as a proxy does; check HTTPS_PROXY"
        )));
    };
    if (200..300).contains(&status) {
        return Ok(());
    }
    let advice = match status {
        407 => "; write name and password into HTTPS_PROXY: http://name:password@host:port",
        _ => "; check HTTPS_PROXY, or name the server in NO_PROXY",
    };
    let said = windlass_core::cut::text(line, SHOWN_CHARS);
    let message = format!("the proxy {}:{} said: {said}", proxy.host, proxy.port);
    let kind = "proxy".to_owned();
    Err(Fault::Refused { status, kind, message, advice, retry_after_ms: None })
}
