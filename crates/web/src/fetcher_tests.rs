//! The attacks of a hostile web, over real sockets on this machine.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use windlass_runtime::SystemClock;
use windlass_runtime::ports::BoxFuture;

use crate::fetch_error::FetchError;
use crate::fetcher::{FetchLimits, FetchOutcome, Fetcher};
use crate::resolver::Resolver;
use crate::target::{FetchTarget, LocalHosts};

/// A resolver that answers from a list, one list for each question.
struct ScriptedResolver {
    answers: Vec<Vec<SocketAddr>>,
    asked: Arc<AtomicUsize>,
}

impl Resolver for ScriptedResolver {
    fn resolve<'a>(
        &'a self,
        _host: &'a str,
        _port: u16,
    ) -> BoxFuture<'a, std::io::Result<Vec<SocketAddr>>> {
        let at = self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers[at.min(self.answers.len() - 1)].clone();
        Box::pin(std::future::ready(Ok(answer)))
    }
}

fn fetcher(local: &[&str], limits: FetchLimits) -> Fetcher {
    let hosts = LocalHosts::new(local.iter().map(|host| (*host).to_owned()));
    Fetcher::new(hosts, limits, Arc::new(SystemClock::start()))
}

/// Serves each connection with this function, and returns `host:port`.
fn serve(answer: impl Fn(&str, &mut std::net::TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap().to_string();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || {
                let mut head = [0; 4096];
                let read = stream.read(&mut head).unwrap_or(0);
                answer(&String::from_utf8_lossy(&head[..read]), &mut stream);
            });
        }
    });
    at
}

fn respond(stream: &mut std::net::TcpStream, head: &str, body: &[u8]) {
    let text = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n", body.len());
    let _ = stream.write_all(text.as_bytes());
    let _ = stream.write_all(body);
}

async fn fetch(fetcher: &Fetcher, url: &str) -> Result<FetchOutcome, FetchError> {
    fetcher.fetch(FetchTarget::parse(url)?, |_| false).await
}

fn is_refused(found: &Result<FetchOutcome, FetchError>) -> bool {
    matches!(found, Err(FetchError::RefusedAddress { .. }))
}

// Case 83.
#[tokio::test]
async fn no_form_of_a_local_address_is_reached() {
    let fetcher = fetcher(&[], FetchLimits::default());
    for url in [
        "http://127.0.0.1",
        "http://[::1]",
        "http://0.0.0.0",
        "http://localhost.",
        "http://localhost",
        "http://2130706433",
        "http://0x7f.1",
        "http://0177.0.0.1",
        "http://[::ffff:169.254.169.254]",
        "http://0xA9FEA9FE",
        "http://[64:ff9b::a9fe:a9fe]",
        "http://127.1",
        "http://①②⑦.0.0.1",
        "https://10.0.0.1:8443/x",
        "http://[fd00:ec2::254]/latest",
        "http://169.254.169.254/",
    ] {
        let found = fetch(&fetcher, url).await;
        assert!(is_refused(&found), "{url}: {found:?}");
    }
}

// Case 84.
#[tokio::test]
async fn a_redirect_to_a_metadata_service_is_refused_at_the_hop() {
    for to in [
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.2/x",
        "//[::1]/",
        "http://2852039166/",
    ] {
        let location = to.to_owned();
        let at = serve(move |_, stream| {
            respond(stream, &format!("302 Found\r\nlocation: {location}"), b"");
        });
        let found = fetch(&fetcher(&[&at], FetchLimits::default()), &format!("http://{at}/")).await;
        assert!(is_refused(&found), "{to}: {found:?}");
    }
    // No setting opens a metadata service.
    let open = fetcher(&["169.254.169.254"], FetchLimits::default());
    assert!(is_refused(&fetch(&open, "http://169.254.169.254/").await));
}

// Case 85.
#[tokio::test]
async fn every_address_of_a_name_is_checked_and_the_checked_one_is_used() {
    let at = serve(|_, stream| respond(stream, "200 OK\r\ncontent-type: text/plain", b"reached"));
    let local: SocketAddr = at.parse().unwrap();
    let public: SocketAddr = "93.184.216.34:80".parse().unwrap();
    let with = |answers: Vec<Vec<SocketAddr>>, open: &[&str]| {
        let asked = Arc::new(AtomicUsize::new(0));
        let resolver = ScriptedResolver { answers, asked: Arc::clone(&asked) };
        let mut fetcher = fetcher(open, FetchLimits::default());
        fetcher.resolver = Arc::new(resolver);
        (fetcher, asked)
    };
    let (mixed, _) = with(vec![vec![public, local]], &[]);
    assert!(is_refused(&fetch(&mixed, "http://example.com/").await));
    // A second answer would be another address: the name is resolved once for each hop.
    let (pinned, asked) = with(vec![vec![local], vec![public]], &["example.com"]);
    let url = format!("http://example.com:{}/", local.port());
    assert!(matches!(fetch(&pinned, &url).await, Ok(FetchOutcome::Page(_))));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    // The name is checked anew at a redirect.
    let back = serve(|_, stream| respond(stream, "302 Found\r\nlocation: /again", b""));
    let back: SocketAddr = back.parse().unwrap();
    let metadata: SocketAddr = "169.254.169.254:80".parse().unwrap();
    let (changed, asked) = with(vec![vec![back], vec![metadata]], &["example.com"]);
    let url = format!("http://example.com:{}/", back.port());
    assert!(is_refused(&fetch(&changed, &url).await));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

// Cases 86 and 89.
#[test]
fn other_schemes_credentials_and_control_characters_are_refused() {
    for url in [
        "file:///etc/passwd",
        "gopher://e.com/1",
        "ftp://e.com/x",
        "data:text/plain,x",
        "jar:http://e.com!/x",
        "javascript:alert(1)",
        "http://user:pass@e.com/",
        "http://user@e.com",
        "http://e.com/\r\nHost: x",
        "http://e.com/a b",
        "http://e.com\t.org/",
        "http:\\\\e.com",
        "http://",
        "",
        "e.com",
        "//e.com",
        "http://e.com:99999/",
    ] {
        let found = FetchTarget::parse(url);
        assert!(matches!(found, Err(FetchError::InvalidUrl(_))), "{url:?}: {found:?}");
    }
}

// Case 87.
#[tokio::test]
async fn a_gzip_bomb_is_cut_at_the_limit() {
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    bomb.write_all(&vec![b'a'; 64 * 1024 * 1024]).unwrap();
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 100_000);
    let at = serve(move |_, stream| {
        respond(stream, "200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip", &bomb);
    });
    let limits = FetchLimits { max_bytes: 1024 * 1024, ..FetchLimits::default() };
    match fetch(&fetcher(&[&at], limits), &format!("http://{at}/")).await {
        Ok(FetchOutcome::Page(page)) => {
            assert!(!page.is_whole && page.bytes.len() <= limits.max_bytes, "{}", page.bytes.len());
        }
        other => panic!("{other:?}"),
    }
}

// Case 88.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "slow servers and the patience of the test are real")]
async fn endless_answers_end() {
    let limits = FetchLimits { total_ms: 700, max_bytes: 256 * 1024, max_redirects: 5 };
    let begun = Instant::now();
    let endless = serve(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n");
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    });
    let found = fetch(&fetcher(&[&endless], limits), &format!("http://{endless}/")).await;
    assert!(matches!(found, Ok(FetchOutcome::Page(page)) if !page.is_whole));
    let slow = serve(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let found = fetch(&fetcher(&[&slow], limits), &format!("http://{slow}/")).await;
    assert_eq!(found, Err(FetchError::TimedOut(700)));
    let circle = serve(|_, stream| respond(stream, "302 Found\r\nlocation: /again", b""));
    let found = fetch(&fetcher(&[&circle], limits), &format!("http://{circle}/")).await;
    assert_eq!(found, Err(FetchError::TooManyRedirects(5)));
    let silent = serve(|_, _| std::thread::sleep(Duration::from_secs(3)));
    let found = fetch(&fetcher(&[&silent], limits), &format!("http://{silent}/")).await;
    assert_eq!(found, Err(FetchError::TimedOut(700)));
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn a_redirect_to_another_host_is_told_and_followed_only_if_it_may_be() {
    let other = serve(|_, stream| respond(stream, "200 OK\r\ncontent-type: text/plain", b"there"));
    let location = format!("http://localhost:{}/x", other.rsplit(':').next().unwrap());
    let to = location.clone();
    let at = serve(move |_, stream| respond(stream, &format!("301 Moved\r\nlocation: {to}"), b""));
    let both = fetcher(&[&at, "localhost"], FetchLimits::default());
    let found = fetch(&both, &format!("http://{at}/")).await;
    assert_eq!(found, Ok(FetchOutcome::OtherHost(location)));
    let target = FetchTarget::parse(&format!("http://{at}/")).unwrap();
    let found = both.fetch(target, |host| host == "localhost").await;
    assert!(matches!(found, Ok(FetchOutcome::Page(page)) if page.bytes == b"there"));
}

#[tokio::test]
async fn nothing_of_this_machine_is_sent_and_only_text_is_read() {
    let at = serve(|head, stream| {
        let lower = head.to_ascii_lowercase();
        let clean = !["cookie", "authorization", "proxy"].iter().any(|name| lower.contains(name));
        let kind = if head.contains("/image") { "image/png" } else { "text/plain" };
        let status = if head.contains("/gone") { "404 Not Found" } else { "200 OK" };
        respond(stream, &format!("{status}\r\ncontent-type: {kind}"), clean.to_string().as_bytes());
    });
    let fetcher = fetcher(&[&at], FetchLimits::default());
    let found = fetch(&fetcher, &format!("http://{at}/a#part")).await;
    assert!(matches!(found, Ok(FetchOutcome::Page(page)) if page.bytes == b"true"));
    let found = fetch(&fetcher, &format!("http://{at}/image")).await;
    assert_eq!(found, Err(FetchError::NotText("image/png".to_owned())));
    let found = fetch(&fetcher, &format!("http://{at}/gone")).await;
    assert!(matches!(found, Err(FetchError::Status { status: 404, .. })));
}
