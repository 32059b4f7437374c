use super::http_head::parse;

fn target(head: &str) -> Result<String, &'static str> {
    parse(head.as_bytes(), Vec::new())
        .map(|head| format!("{}:{}", head.target.host, head.target.port))
}

#[test]
fn a_request_says_where_it_leads_in_one_way_only() {
    assert_eq!(target("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443").unwrap(), "a.test:443");
    assert_eq!(target("GET http://a.test/x?y HTTP/1.1\r\nHost: a.test").unwrap(), "a.test:80");
    assert_eq!(target("GET http://a.test:81 HTTP/1.1\r\nHost: A.TEST:81").unwrap(), "a.test:81");
    for wrong in [
        "CONNECT a.test HTTP/1.1",
        "CONNECT a.test:0443 HTTP/1.1",
        "CONNECT a.test:+443 HTTP/1.1",
        "GET http://a.test@b.test/ HTTP/1.1",
        "GET http://a.test/ HTTP/1.1\r\nHost: b.test",
        "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nHost: b.test",
        "GET http://a.test/ HTTP/1.1\r\nX: a\nHost: b.test",
        "GET http://a.test/ HTTP/1.1\r\n Host: b.test",
        "GET http://a.test/ b HTTP/1.1",
        "GET https://a.test/ HTTP/1.1",
        "GET /x HTTP/1.1\r\nHost: a.test",
        "GET http://a.test/ HTTP/2",
        "",
    ] {
        assert!(target(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_for_the_proxy_is_not_sent_on() {
    let head = "GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\nProxy-Authorization: k\r\nConnection: keep-alive\r\nX: y";
    let forwarded = parse(head.as_bytes(), Vec::new()).unwrap().forwarded.unwrap();
    let expected = "GET /x HTTP/1.1\r\nHost: a.test\r\nX: y\r\nConnection: close\r\n\r\n";
    assert_eq!(String::from_utf8(forwarded).unwrap(), expected);
}
