use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::BoxFuture;

use super::challenge::Challenge;
use super::discovery::canonical_url;
use super::loopback::parse_query;
use super::registration::chosen_method;
use super::web::{check_url, origin_and_path};
use super::{BrowserOpener, LoginPrompt, LoginStore, OAuthAuthorization, OAuthClient, StoredLogin};
use crate::http::{
    HttpAuthorization, HttpError, HttpRequest, HttpResponse, HttpTransport, Rejection,
};
use crate::server_config::OAuthConfig;

#[test]
fn a_challenge_is_read_however_it_is_written() {
    let header = "Basic realm=\"x\", Bearer realm=\"mcp\", scope=\"a b\", \
                  resource_metadata=\"https://a.test/.well-known/x\", error=insufficient_scope";
    let challenge = Challenge::parse(header);
    assert_eq!(challenge.scope.as_deref(), Some("a b"));
    assert_eq!(challenge.resource_metadata.as_deref(), Some("https://a.test/.well-known/x"));
    assert_eq!(challenge.error.as_deref(), Some("insufficient_scope"));
    assert_eq!(Challenge::parse("Bearer scope=\"open"), Challenge::default());
    assert_eq!(Challenge::parse(r#"bearer scope="a\"b""#).scope.as_deref(), Some("a\"b"));
}

#[test]
fn tokens_go_only_where_no_one_reads_them_on_the_way() {
    for good in
        ["https://a.test/x", "http://localhost:1/x", "http://127.0.0.1/x", "http://[::1]:8/x"]
    {
        assert!(check_url(good).is_ok(), "{good}");
    }
    for bad in
        ["http://a.test/x", "http://localhost.a.test", "http://localhost@a.test", "ftp://a", ""]
    {
        assert!(check_url(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_audience_is_the_server_without_query() {
    assert_eq!(canonical_url("https://A.test/mcp/?x=1#y"), "https://a.test/mcp");
    assert_eq!(origin_and_path("https://a.test:1/b/c?d"), ("https://a.test:1", "/b/c"));
    assert_eq!(origin_and_path("https://a.test"), ("https://a.test", ""));
}

#[test]
fn an_answer_is_decoded() {
    let callback = parse_query("code=a%2Bb&state=x+y&iss=https%3A%2F%2Fa.test&more=1");
    assert_eq!(callback.code.as_deref(), Some("a+b"));
    assert_eq!(callback.state.as_deref(), Some("x y"));
    assert_eq!(callback.issuer.as_deref(), Some("https://a.test"));
}

#[test]
fn a_client_proves_itself_as_the_server_supports_it() {
    assert_eq!(chosen_method(&json!(["client_secret_post"]), true), "client_secret_post");
    assert_eq!(chosen_method(&json!(null), true), "client_secret_basic");
    assert_eq!(chosen_method(&json!(["none"]), false), "none");
    assert_eq!(chosen_method(&json!(["private_key_jwt"]), true), "client_secret_basic");
}

/// A server at `https://a.test/mcp` and its authorization server.
#[derive(Default)]
struct FakeWeb {
    token_requests: Mutex<Vec<String>>,
}

impl FakeWeb {
    fn answer(&self, request: &HttpRequest) -> (u16, Vec<(String, String)>, Value) {
        let path = request.url.strip_prefix("https://a.test").unwrap_or_default();
        match path {
            "/mcp" => {
                let challenge = "Bearer scope=\"read\"".to_owned();
                (401, vec![("www-authenticate".to_owned(), challenge)], json!({}))
            }
            "/.well-known/oauth-protected-resource/mcp" => (
                200,
                Vec::new(),
                json!({
                    "resource": "https://a.test/mcp", "authorization_servers": ["https://a.test"],
                }),
            ),
            "/.well-known/oauth-authorization-server" => (
                200,
                Vec::new(),
                json!({
                    "issuer": "https://a.test", "authorization_endpoint": "https://a.test/authorize",
                    "token_endpoint": "https://a.test/token", "registration_endpoint": "https://a.test/register",
                    "code_challenge_methods_supported": ["S256"],
                }),
            ),
            "/register" => (201, Vec::new(), json!({"client_id": "me"})),
            "/token" => {
                let mut seen = self.token_requests.lock().unwrap();
                seen.push(String::from_utf8_lossy(&request.body).into_owned());
                let nth = seen.len();
                (
                    200,
                    Vec::new(),
                    json!({"access_token": format!("t{nth}"), "token_type": "Bearer",
                    "refresh_token": format!("r{nth}"), "expires_in": if nth == 1 { 1 } else { 3_600 }}),
                )
            }
            _ => (404, Vec::new(), json!({})),
        }
    }
}

impl HttpTransport for FakeWeb {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, HttpError>> {
        let (status, headers, body) = self.answer(&request);
        Box::pin(async move {
            let (sender, receiver) = tokio::sync::mpsc::channel(1);
            sender.send(Ok(body.to_string().into_bytes().into())).await.unwrap();
            Ok(HttpResponse { status, headers, body: receiver })
        })
    }
}

#[derive(Default)]
struct MemoryLogins(Mutex<HashMap<String, StoredLogin>>);

impl LoginStore for MemoryLogins {
    fn load(&self, resource: &str) -> Result<Option<StoredLogin>, String> {
        Ok(self.0.lock().unwrap().get(resource).cloned())
    }

    fn save(&self, login: &StoredLogin) -> Result<(), String> {
        self.0.lock().unwrap().insert(login.resource.clone(), login.clone());
        Ok(())
    }
}

/// A person who agrees: the browser returns with a code, after a request that is a forgery.
#[derive(Default)]
struct AgreeingBrowser(Mutex<Vec<HashMap<String, String>>>);

impl BrowserOpener for AgreeingBrowser {
    fn open(&self, url: &str) -> BoxFuture<'_, ()> {
        let query = url.split_once('?').unwrap().1;
        let decode = |text: &str| {
            percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
        };
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let asked: HashMap<_, _> =
            pairs.map(|(name, value)| (name.to_owned(), decode(value))).collect();
        let port: u16 = asked["redirect_uri"]
            .rsplit(':')
            .next()
            .unwrap()
            .split('/')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let state = asked["state"].clone();
        self.0.lock().unwrap().push(asked);
        tokio::spawn(async move {
            for target in ["code=evil&state=guessed".to_owned(), format!("code=good&state={state}")]
            {
                let mut line = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                let request = format!("GET /callback?{target} HTTP/1.1\r\nHost: localhost\r\n\r\n");
                line.write_all(request.as_bytes()).await.unwrap();
                let mut page = String::new();
                line.read_to_string(&mut page).await.unwrap();
            }
        });
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn a_login_is_kept_for_its_server_refreshed_and_sent_nowhere_else() {
    let (web, logins) = (Arc::new(FakeWeb::default()), Arc::new(MemoryLogins::default()));
    let client = |url: &str| {
        let ports =
            (logins.clone() as Arc<dyn LoginStore>, Arc::new(SystemClock::start()) as Arc<_>);
        OAuthClient::new(url, OAuthConfig::default(), web.clone(), ports)
    };
    let browser = Arc::new(AgreeingBrowser::default());
    client("https://a.test/mcp").login(&LoginPrompt { browser: browser.clone() }).await.unwrap();
    let asked = browser.0.lock().unwrap().pop().unwrap();
    assert_eq!(
        (asked["scope"].as_str(), asked["code_challenge_method"].as_str()),
        ("read", "S256")
    );
    assert_eq!(asked["resource"], "https://a.test/mcp");
    let first = web.token_requests.lock().unwrap()[0].clone();
    assert!(first.contains("code=good") && first.contains("code_verifier="), "{first}");
    assert!(first.contains("resource=https%3A%2F%2Fa.test%2Fmcp"), "{first}");

    // The first token expires at once and is refreshed.
    let credentials = OAuthAuthorization::new(client("https://a.test/mcp"));
    assert_eq!(credentials.access_token().await.unwrap().as_deref(), Some("t2"));
    assert!(web.token_requests.lock().unwrap()[1].contains("refresh_token=r1"));
    assert_eq!(credentials.access_token().await.unwrap().as_deref(), Some("t2"));
    // A token that the server rejects is replaced once.
    let rejection =
        Rejection { status: 401, challenge: String::new(), token: Some("t2".to_owned()) };
    assert!(credentials.on_rejected(rejection.clone()).await.unwrap());
    assert_eq!(credentials.access_token().await.unwrap().as_deref(), Some("t3"));
    let elsewhere = OAuthAuthorization::new(client("https://b.test/mcp"));
    assert_eq!(elsewhere.access_token().await.unwrap(), None);
}
