//! The head of a request to the proxy: `CONNECT host:port`, or a whole request with the address in
//! its first line.

use std::io;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::host_rule::split_port;

/// Maximum size of a head in bytes.
const MAX_HEAD_BYTES: usize = 32 * 1024;

/// Headers that are between the client and the proxy.
const HOP_HEADERS: [&str; 4] =
    ["connection", "keep-alive", "proxy-connection", "proxy-authorization"];

/// Where a request leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HttpTarget {
    pub(super) host: String,
    pub(super) port: u16,
}

/// The head of a request.
#[derive(Debug)]
pub(super) struct HttpHead {
    pub(super) target: HttpTarget,
    /// The head as it is sent on; `None` for a tunnel.
    pub(super) forwarded: Option<Vec<u8>>,
    /// What arrived after the head.
    pub(super) rest: Vec<u8>,
}

impl HttpHead {
    /// Reads a head; the inner error says what is wrong with it.
    pub(super) async fn read(client: &mut TcpStream) -> io::Result<Result<Self, &'static str>> {
        let mut bytes = Vec::new();
        loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                let rest = bytes.split_off(end + 4);
                bytes.truncate(end);
                return Ok(parse(&bytes, rest));
            }
            if bytes.len() > MAX_HEAD_BYTES {
                return Ok(Err("the head of the request is too long"));
            }
            if client.read_buf(&mut bytes).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

pub(super) fn parse(head: &[u8], rest: Vec<u8>) -> Result<HttpHead, &'static str> {
    let text = std::str::from_utf8(head).map_err(|_| "the head of the request is not UTF-8")?;
    let mut lines = text.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let words: Vec<&str> = first.split(' ').collect();
    let [method, target, version @ ("HTTP/1.1" | "HTTP/1.0")] = words.as_slice() else {
        return Err("the first line of the request is not valid");
    };
    let headers: Vec<&str> = lines.collect();
    if headers.iter().any(|line| line.contains(['\r', '\n', '\0']) || line.starts_with([' ', '\t']))
    {
        return Err("a header of the request is not valid");
    }
    if *method == "CONNECT" {
        let (host, port) = split_port(target).ok_or("CONNECT takes a host and a port")?;
        let port = port.ok_or("CONNECT takes a host and a port")?;
        let target = HttpTarget { host: host.to_owned(), port };
        return Ok(HttpHead { target, forwarded: None, rest });
    }
    let address = target.strip_prefix("http://").ok_or("only http:// and CONNECT are forwarded")?;
    let split = address.find(['/', '?', '#']).unwrap_or(address.len());
    let (authority, path) = address.split_at(split);
    if authority.contains('@') {
        return Err("the address of the request contains credentials");
    }
    let (host, port) = split_port(authority).ok_or("the address of the request is not valid")?;
    let target = HttpTarget { host: host.to_owned(), port: port.unwrap_or(80) };
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    let mut forwarded = format!("{method} {path} {version}\r\n");
    for line in headers {
        let (name, value) = line.split_once(':').ok_or("a header of the request is not valid")?;
        let name = name.to_ascii_lowercase();
        if name == "host" && !is_same_host(value.trim(), &target) {
            return Err("the Host header names another host than the address");
        }
        if !HOP_HEADERS.contains(&name.as_str()) {
            forwarded.push_str(line);
            forwarded.push_str("\r\n");
        }
    }
    forwarded.push_str("Connection: close\r\n\r\n");
    Ok(HttpHead { target, forwarded: Some(forwarded.into_bytes()), rest })
}

fn is_same_host(header: &str, target: &HttpTarget) -> bool {
    split_port(header).is_some_and(|(host, port)| {
        host.eq_ignore_ascii_case(&target.host) && port.unwrap_or(80) == target.port
    })
}
