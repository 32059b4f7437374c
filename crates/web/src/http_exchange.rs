//! One HTTP exchange over a connection of its own, to an address that was checked.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::body::BoundedBody;
use crate::fetch_error::FetchError;
use crate::target::FetchTarget;

/// The name of this program for servers.
const USER_AGENT: &str = concat!("windlass/", env!("CARGO_PKG_VERSION"));

/// Maximum size of the head of an answer.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// A byte stream to a server.
trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}

/// The head of an answer, and its body that is still to be read.
pub(crate) struct OpenAnswer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    body: Incoming,
    _connection: AbortOnDrop,
}

/// Ends the task of a connection.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a request asks for.
pub(crate) enum RequestKind {
    /// The resource.
    Get,
    /// The resource takes this body.
    Post(Bytes),
}

/// Sends a request with these headers to the first address that answers.
pub(crate) async fn send_request(
    target: &FetchTarget,
    addresses: &[SocketAddr],
    headers: &[(&'static str, String)],
    kind: RequestKind,
) -> Result<OpenAnswer, FetchError> {
    let stream = connect(target, addresses).await?;
    let failed = |error: hyper::Error| bad_answer(target, &error.to_string());
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_HEAD_BYTES);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(failed)?;
    let task = tokio::spawn(async move { drop(connection.await) });
    let guard = AbortOnDrop(task.abort_handle());
    let (method, body) = match kind {
        RequestKind::Get => (Method::GET, None),
        RequestKind::Post(body) => (Method::POST, Some(body)),
    };
    let mut request = Request::builder()
        .method(method)
        .uri(target.path_and_query())
        .header("host", target.authority())
        .header("user-agent", USER_AGENT)
        .header("accept-encoding", "gzip, deflate")
        .header("connection", "close");
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let request =
        request.body(WholeBody(body)).map_err(|error| bad_answer(target, &error.to_string()))?;
    let answer: Response<Incoming> = sender.send_request(request).await.map_err(failed)?;
    let (head, body) = answer.into_parts();
    let status = head.status.as_u16();
    Ok(OpenAnswer { status, headers: head.headers, body, _connection: guard })
}

impl OpenAnswer {
    /// The text of a header; empty if it is missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Reads the body up to a limit, and returns whether that is all of it.
    pub(crate) async fn read_body(
        mut self,
        target: &FetchTarget,
        limit: usize,
    ) -> Result<(Vec<u8>, bool), FetchError> {
        let encoding = self.header("content-encoding").to_owned();
        let failed = |reason: String| bad_answer(target, &reason);
        let mut kept = BoundedBody::new(&encoding, limit).map_err(failed)?;
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut self.body).poll_frame(cx)).await {
            let frame = frame.map_err(|error| bad_answer(target, &error.to_string()))?;
            // Trailers contain nothing that is needed.
            let Ok(piece) = frame.into_data() else { continue };
            if !kept.push(&piece).map_err(failed)? {
                break;
            }
        }
        Ok(kept.finish())
    }
}

async fn connect(
    target: &FetchTarget,
    addresses: &[SocketAddr],
) -> Result<Box<dyn ByteStream>, FetchError> {
    let mut reason = "it has no address".to_owned();
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) if target.is_encrypted() => return encrypt(target, stream).await,
            Ok(stream) => return Ok(Box::new(stream)),
            Err(error) => reason = error.to_string(),
        }
    }
    Err(FetchError::Unreachable { host: target.host.clone(), reason })
}

async fn encrypt(
    target: &FetchTarget,
    stream: TcpStream,
) -> Result<Box<dyn ByteStream>, FetchError> {
    let failed = |reason: String| FetchError::Unreachable { host: target.host.clone(), reason };
    let name = ServerName::try_from(target.host.clone());
    let name = name.map_err(|error| failed(error.to_string()))?;
    let connector = tls_connector().map_err(failed)?;
    let stream =
        connector.connect(name, stream).await.map_err(|error| failed(error.to_string()))?;
    Ok(Box::new(stream))
}

/// The TLS configuration, made for the first encrypted connection: reading the system's certificates
/// takes milliseconds.
fn tls_connector() -> Result<TlsConnector, String> {
    static CONFIG: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    CONFIG.get_or_init(build_tls_config).clone().map(TlsConnector::from)
}

fn build_tls_config() -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("no supported TLS version: {error}"))?;
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn bad_answer(target: &FetchTarget, reason: &str) -> FetchError {
    FetchError::BadAnswer { host: target.host.clone(), reason: reason.to_owned() }
}

/// The body of a request, in one piece.
struct WholeBody(Option<Bytes>);

impl Body for WholeBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        std::task::Poll::Ready(self.0.take().map(|body| Ok(http_body::Frame::data(body))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.0.as_ref().map_or(0, |body| body.len() as u64))
    }
}
