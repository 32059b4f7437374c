use super::*;

fn rules(listen: &str, allowed: &[&str]) -> AccessRules {
    let config = ServerConfig {
        listen: listen.parse().unwrap(),
        token: crate::AccessToken::from_text("0123456789abcdef0123456789abcdef"),
        tls: None,
        allowed_hosts: allowed.iter().map(|&name| name.to_owned()).collect(),
        requests_per_second: 1_000,
    };
    let mut address = config.listen;
    address.set_port(7878);
    AccessRules::new(&config, address)
}

/// The code of the problem with a request, given by its head.
fn refusal(rules: &AccessRules, request: &str, headers: &[(&str, &str)]) -> &'static str {
    let (method, uri) = request.split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let head = RequestHead {
        method: &parts.method,
        uri: &parts.uri,
        version: parts.version,
        headers: &parts.headers,
    };
    rules
        .check(&head)
        .and_then(|()| check_body_headers(&head))
        .err()
        .map_or("", |problem| problem.code().as_str())
}

#[test]
fn hosts_that_resolve_here_without_being_known_are_refused() {
    let local = rules("127.0.0.1:0", &["api.example.com", "other.example:99"]);
    let bearer = ("authorization", "Bearer 0123456789abcdef0123456789abcdef");
    let check = |host: &str| refusal(&local, "GET /v1/runs", &[("host", host), bearer]);
    for known in [
        "127.0.0.1:7878",
        "LOCALHOST:7878",
        "[::1]:7878",
        "api.example.com",
        "API.example.com:7878",
        "other.example:99",
    ] {
        assert_eq!(check(known), "", "{known}");
    }
    for unknown in
        ["evil.com", "127.0.0.1", "127.0.0.1:80", "localhost.evil.com:7878", "api.example.com.", ""]
    {
        assert_eq!(check(unknown), "host_not_allowed", "{unknown}");
    }
    assert_eq!(refusal(&local, "GET /v1/runs", &[bearer]), "host_not_allowed");
    let twice = [("host", "127.0.0.1:7878"), ("host", "127.0.0.1:7878"), bearer];
    assert_eq!(refusal(&local, "GET /v1/runs", &twice), "host_not_allowed");
    let absolute = [("host", "127.0.0.1:7878"), bearer];
    assert_eq!(refusal(&local, "GET http://evil.com/v1/runs", &absolute), "host_not_allowed");
    let any = rules("0.0.0.0:0", &[]);
    assert_eq!(refusal(&any, "GET /", &[("host", "0.0.0.0:7878"), bearer]), "host_not_allowed");
}

#[test]
fn tokens_are_taken_from_one_header_only() {
    let presented = |values: &[&str]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, value.parse().unwrap());
        }
        presented_token(&headers).map(str::to_owned)
    };
    assert_eq!(presented(&["bearer t0ken"]).as_deref(), Some("t0ken"));
    for wrong in [&[][..], &[""], &["t0ken"], &["Bearer"], &["Basic t0ken"]] {
        assert_eq!(presented(wrong), None, "{wrong:?}");
    }
    assert_eq!(presented(&["Bearer t0ken", "Bearer t0ken"]), None);
    let local = rules("127.0.0.1:0", &[]);
    let host = [("host", "127.0.0.1:7878")];
    assert_eq!(refusal(&local, "GET /v1/runs?limit=1&Token=t0ken", &host), "token_in_url");
}
