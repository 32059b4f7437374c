use tokio_postgres::config::SslMode;

use super::server_address::{CertificateTrust, ServerAddress, StatementMode, is_url};

fn parse(url: &str) -> ServerAddress {
    ServerAddress::parse(url).unwrap()
}

#[test]
fn what_the_url_says_is_honoured() {
    let plain = parse("postgres://me:secret@db.example:6432/agents");
    assert_eq!(plain.location, "postgres://me@db.example:6432/agents");
    assert_eq!(plain.config.get_ssl_mode(), SslMode::Prefer);
    assert_eq!(plain.trust, CertificateTrust::AnyCertificate);
    let verified = parse("postgresql://me@h/d?sslmode=verify-full&connections=9&prepared=off");
    assert_eq!(verified.config.get_ssl_mode(), SslMode::Require);
    assert_eq!(verified.trust, CertificateTrust::SystemRoots);
    assert_eq!((verified.connections, verified.statements), (9, StatementMode::Unprepared));
    let file = parse("postgres://h/d?sslrootcert=ca.pem&sslmode=verify-ca");
    assert_eq!(file.trust, CertificateTrust::RootsFile("ca.pem".into()));
    let file = parse("postgres://h/d?sslrootcert=ca.pem");
    assert_eq!(file.config.get_ssl_mode(), SslMode::Require, "it is to be checked");
    assert_eq!(file.trust, CertificateTrust::RootsFile("ca.pem".into()));
    let socket = parse("postgres:///d?host=/run/pg&port=6000&user=me");
    assert_eq!(socket.location, "postgres://me@/run/pg:6000/d");
}

#[test]
fn a_url_that_means_nothing_is_one_sentence() {
    for url in [
        "postgres://h:notaport/d",
        "postgres:///d",
        "postgres://h/d?sslmode=perhaps",
        "postgres://h/d?sslmode=prefer&sslrootcert=ca.pem",
        "postgres://h/d?sslrootcert=ca.pem&sslmode=disable",
        "postgres://h/d?prepared=maybe",
        "postgres://h/d?connections=0",
        "postgres://h/d?colour=blue",
    ] {
        let error = ServerAddress::parse(url).unwrap_err().to_string();
        assert!(error.contains("postgres://user:password@host:5432/database"), "{url}: {error}");
        assert!(!error.contains('\n'));
    }
}

#[test]
fn files_are_not_addresses() {
    assert!(is_url("postgres://h") && is_url("postgresql://h"));
    assert!(!is_url("windlass.db") && !is_url("postgres.db"));
}
