use super::ApiTarget;
use super::proxy_rules::ProxyRules;

fn proxies(named: &'static str, except: &'static str) -> ProxyRules {
    let variable = move |name: &str| match name {
        "HTTPS_PROXY" => Some(named.to_owned()),
        "NO_PROXY" => Some(except.to_owned()),
        _ => None,
    };
    ProxyRules::from_variables(&variable).unwrap()
}

fn is_proxied(proxies: &ProxyRules, address: &str) -> bool {
    proxies.proxy_for(&ApiTarget::parse(address).unwrap().origin).is_some()
}

#[test]
fn encrypted_servers_elsewhere_go_through_the_proxy() {
    let proxies = proxies("proxy.example.com:3128", "");
    assert!(is_proxied(&proxies, "https://api.example.com/v1"));
    assert!(!is_proxied(&proxies, "http://api.example.com/v1"));
    for here in ["https://localhost:8443", "https://127.0.0.1", "https://[::1]:9"] {
        assert!(!is_proxied(&proxies, here), "{here}");
    }
    assert!(!is_proxied(&ProxyRules::default(), "https://api.example.com"));
}

#[test]
fn exceptions_are_hosts_domains_ports_networks_and_everything() {
    let list = " api.example.com, .corp.test,*.wild.test, other.test:8443 ,10.0.0.0/8, 192.0.2.7, fd00::/8";
    let some = proxies("http://p", list);
    for direct in [
        "https://api.example.com",
        "https://API.example.com.",
        "https://eu.api.example.com",
        "https://corp.test",
        "https://a.corp.test",
        "https://a.wild.test",
        "https://other.test:8443",
        "https://10.9.8.7",
        "https://192.0.2.7:1",
        "https://[fd12::1]",
    ] {
        assert!(!is_proxied(&some, direct), "{direct}");
    }
    for far in [
        "https://notapi.example.com",
        "https://example.com",
        "https://other.test",
        "https://11.0.0.1",
        "https://[fe80::1]",
    ] {
        assert!(is_proxied(&some, far), "{far}");
    }
    assert!(!is_proxied(&proxies("http://p", "*"), "https://example.com"));
    assert!(!is_proxied(&proxies("http://p", "0.0.0.0/0"), "https://9.9.9.9"));
    assert!(!is_proxied(&proxies("http://p", "9.9.9.9/99"), "https://9.9.9.9"));
}

#[test]
fn a_proxy_that_cannot_be_used_is_said_without_its_password() {
    for bad in ["socks5://p:1080", "https://u:geheim@p", "http://", "http://u:geheim@p:port"] {
        let variable = |name: &str| (name == "HTTPS_PROXY").then(|| bad.to_owned());
        let error = ProxyRules::from_variables(&variable).unwrap_err();
        assert!(error.to_string().contains("HTTPS_PROXY"), "{error}");
        assert!(!format!("{error} {error:?}").contains("geheim"));
    }
}

#[test]
fn passwords_show_nowhere() {
    let proxies = proxies("http://me:p%40ss%2Fword@proxy.test", "");
    assert!(!format!("{proxies:?}").contains("ss/"));
    let secrets: Vec<&str> = proxies.secrets().map(|secret| secret.expose()).collect();
    assert_eq!(secrets, ["bWU6cEBzcy93b3Jk", "p@ss/word"]);
}
