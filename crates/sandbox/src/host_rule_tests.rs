use super::host_rule::{HostRule, normalize_host, split_port};

fn covers(rule: &str, target: &str) -> bool {
    let Some((host, port)) = split_port(target) else { return false };
    let Some(host) = normalize_host(host) else { return false };
    HostRule::parse(rule).unwrap().covers(&host, port.unwrap_or(443))
}

#[test]
fn only_the_exact_host_is_covered() {
    for reached in ["allowed.com", "ALLOWED.com", "allowed.com:443", "allowed.com:80"] {
        assert!(covers("allowed.com", reached), "{reached}");
    }
    for refused in [
        "evil.com\0.allowed.com",
        "allowed.com\0.evil.com",
        "allowed.com.evil.com",
        "evilallowed.com",
        "x.allowed.com",
        "allowed.com.",
        ".allowed.com",
        "allowed..com",
        "allowed.com@evil.com",
        "evil.com@allowed.com",
        "allowed.com:8443",
        "allowed.com:0443",
        "allowed.com:443:443",
        "allowed.com/evil",
        "аllowed.com",
        "allowed.com%2eevil.com",
        "allowed.com\n",
        " allowed.com",
        "xn--llowed-4nf.com",
        "2130706433",
        "",
    ] {
        assert!(!covers("allowed.com", refused), "{refused}");
    }
}

#[test]
fn a_star_covers_what_is_beneath_and_not_the_host_itself() {
    assert!(covers("*.a.test", "x.a.test") && covers("*.a.test", "y.x.a.test"));
    for refused in ["a.test", "xa.test", "x.a.test.evil", "x.b.test"] {
        assert!(!covers("*.a.test", refused), "{refused}");
    }
}

#[test]
fn a_port_and_an_address_belong_to_a_rule() {
    assert!(covers("a.test:8443", "a.test:8443") && !covers("a.test:8443", "a.test:443"));
    let rule = HostRule::parse("a.test:80=127.0.0.1:4873").unwrap();
    assert_eq!(rule.address().unwrap().to_string(), "127.0.0.1:4873");
    assert!(covers("[::1]:80", "[0:0:0:0:0:0:0:1]:80"));
    for text in ["a.test", "*.a.test:8443", "a.test:80=127.0.0.1:4873", "[::1]:80", "10.0.0.1"] {
        assert_eq!(HostRule::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn what_is_no_host_is_an_error_that_says_so() {
    for wrong in [
        "",
        "*",
        "*.",
        "a b",
        "http://a.test",
        "a.test/x",
        "*.*.test",
        "a.*",
        "a.test:x",
        "a.test:70000",
        "a.test=b",
        "a.test=127.0.0.1",
    ] {
        let error = HostRule::parse(wrong).unwrap_err();
        assert!(error.contains("is not a"), "{wrong}: {error}");
    }
}
