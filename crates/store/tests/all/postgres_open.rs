//! Servers that cannot be used: each error names the server and what to do, without the password.

use std::time::Duration;

use windlass_cluster::{DiskMode, PostgresCluster, run_query};
use windlass_runtime::ports::{Store, StoreError};
use windlass_store::PostgresStore;
use windlass_store::postgres::PostgresSettings;

use crate::kit::{append_one, claim_new_lane, lane, message};
use crate::postgres_kit::{database, open, strings};

fn hasty() -> PostgresSettings {
    PostgresSettings {
        retry_timeout: Duration::from_millis(600),
        open_timeout: Duration::from_millis(300),
        ..PostgresSettings::default()
    }
}

async fn refusal(url: &str) -> StoreError {
    PostgresStore::open_with(url, &hasty()).await.err().unwrap()
}

/// Returns the error of opening with a longer timeout, for a server that takes time to reject us.
async fn patient_refusal(url: &str) -> StoreError {
    PostgresStore::open(url).await.err().unwrap()
}

/// Checks that the error is one sentence and contains these words.
fn says(error: &StoreError, words: &[&str]) {
    let text = error.to_string();
    assert!(!text.contains('\n') && !text.contains("secret"), "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is missing: {text}");
    }
}

#[tokio::test]
async fn wrong_address() {
    says(&refusal("postgres://user:secret@host:port/db").await, &["postgres://user:password@host"]);
    says(
        &refusal("postgres://me:secret@no-such-host.invalid/db").await,
        &["no-such-host.invalid", "cannot be reached", "address"],
    );
    // A port without a listener.
    says(
        &refusal("postgres://me:secret@127.0.0.1:1/db").await,
        &["127.0.0.1:1", "cannot be reached"],
    );
}

#[tokio::test]
async fn database_that_is_not_there() {
    let url = database().await;
    says(&refusal(&format!("{url}_not")).await, &["does not exist", "createdb"]);
}

#[tokio::test]
async fn wrong_password_and_refused_tls() {
    let cluster = PostgresCluster::start(DiskMode::Trusted).unwrap();
    let url = cluster.url("postgres");
    run_query(&url, "CREATE ROLE guarded LOGIN PASSWORD 'right'").await.unwrap();
    let rules = cluster.folder().join("data/pg_hba.conf");
    let old = std::fs::read_to_string(&rules).unwrap();
    std::fs::write(&rules, format!("host all guarded 127.0.0.1/32 scram-sha-256\n{old}")).unwrap();
    cluster.reload("postgresql.conf", "").unwrap();
    let guarded = |password: &str| url.replace("windlass@", &format!("guarded{password}@"));
    run_query(&url, "GRANT ALL ON SCHEMA public TO guarded").await.unwrap();
    says(&patient_refusal(&guarded(":secret")).await, &["rejected the login", "user and password"]);
    says(&patient_refusal(&guarded("")).await, &["password", "address"]);
    PostgresStore::open(&guarded(":right")).await.unwrap();

    // This server has no certificate.
    for mode in ["require", "verify-full"] {
        let error = patient_refusal(&format!("{url}?sslmode={mode}")).await;
        says(&error, &["TLS", "sslmode"]);
    }
    PostgresStore::open(&format!("{url}?sslmode=disable")).await.unwrap();
}

#[tokio::test]
async fn tls_is_spoken_and_checked_when_asked_to() {
    let cluster = PostgresCluster::start(DiskMode::Trusted).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let data = cluster.folder().join("data");
    let owner = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&data).unwrap());
    for (name, text) in [("server.crt", certificate.pem()), ("server.key", key.serialize_pem())] {
        let path = data.join(name);
        std::fs::write(&path, text).unwrap();
        let private = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600);
        std::fs::set_permissions(&path, private).unwrap();
        std::os::unix::fs::chown(&path, Some(owner), None).unwrap();
    }
    cluster.reload("postgresql.conf", "ssl = on\n").unwrap();
    let roots = cluster.folder().join("root.pem");
    std::fs::write(&roots, certificate.pem()).unwrap();
    let url = cluster.url("postgres");
    let store = open(&format!("{url}?sslmode=require")).await;
    store.enqueue_message(lane("a"), message("k")).await.unwrap();
    let encrypted = "SELECT count(*)::text FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
         WHERE ssl AND application_name = 'windlass'";
    assert_ne!(strings(&url, encrypted).await, ["0"]);
    let roots = roots.display();
    // `verify-ca` is as strict as `verify-full`.
    for mode in ["verify-full", "verify-ca"] {
        // No root on this machine signs the certificate, and it is not for this name.
        says(&refusal(&format!("{url}?sslmode={mode}")).await, &["TLS", "sslrootcert"]);
        let named = url.replace("127.0.0.1", "localhost");
        says(&refusal(&format!("{named}?sslmode={mode}")).await, &["TLS", "sslrootcert"]);
        let known = format!("{url}?sslmode={mode}&sslrootcert={roots}");
        says(&refusal(&known).await, &["TLS", "certificate"]);
        open(&known.replace("127.0.0.1", "localhost")).await;
    }
    // The certificates of another authority do not sign it.
    let stranger = cluster.folder().join("stranger.pem");
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&stranger, params.self_signed(&key).unwrap().pem()).unwrap();
    let stranger = stranger.display();
    for mode in ["", "sslmode=require&", "sslmode=verify-ca&", "sslmode=verify-full&"] {
        let url = url.replace("127.0.0.1", "localhost");
        let error = refusal(&format!("{url}?{mode}sslrootcert={stranger}")).await;
        says(&error, &["TLS", "certificate"]);
    }
}

/// A server that reports an old version.
#[tokio::test]
async fn a_server_that_is_too_old() {
    let url = database().await;
    let name = url.rsplit('/').next().unwrap();
    let says_14 = "CREATE FUNCTION old.current_setting(what text) RETURNS text LANGUAGE sql AS $$
        SELECT CASE what WHEN 'server_version_num' THEN '140012'
            ELSE pg_catalog.current_setting(what) END $$";
    let first = format!("ALTER DATABASE {name} SET search_path = old, pg_catalog, public");
    for sql in ["CREATE SCHEMA old", says_14, &first] {
        run_query(&url, sql).await.unwrap();
    }
    says(&patient_refusal(&url).await, &["runs PostgreSQL 14", "15 or newer is required"]);
    let made = "SELECT count(*)::text FROM information_schema.tables WHERE table_name = 'lane'";
    assert_eq!(strings(&url, made).await, ["0"], "it was refused after tables were made");
}

#[tokio::test]
async fn a_server_that_only_reads() {
    let url = database().await;
    drop(open(&url).await);
    let name = url.rsplit('/').next().unwrap();
    run_query(&url, &format!("ALTER DATABASE {name} SET default_transaction_read_only = on"))
        .await
        .unwrap();
    let error = refusal(&url).await;
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    says(&error, &["read-only", "--store"]);
}

/// As after a failover to a replica: open connections notice it too, and nothing is lost.
#[tokio::test]
async fn a_server_that_becomes_read_only() {
    let cluster = PostgresCluster::start(DiskMode::Trusted).unwrap();
    let store = open(&cluster.url("postgres")).await;
    let epoch = claim_new_lane(&store, "a").await;
    cluster.reload("postgresql.conf", "default_transaction_read_only = on\n").unwrap();
    let refused = loop {
        let head = store.lane_info(lane("a")).await.unwrap().unwrap().head;
        if let Err(error) = store.append(append_one("a", epoch, head, "x")).await {
            break error;
        }
    };
    assert!(matches!(refused, StoreError::ReadOnly { .. }), "{refused}");
    let head = store.lane_info(lane("a")).await.unwrap().unwrap().head;
    cluster.reload("postgresql.conf", "default_transaction_read_only = off\n").unwrap();
    let again = async {
        while store.append(append_one("a", epoch, head, "x")).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), again).await.unwrap();
    assert_eq!(store.read_log(lane("a"), 0, 9_999).await.unwrap().len() as u64, head + 1);
}

// spec: FAULT-57
#[tokio::test]
async fn a_newer_schema_is_left_alone() {
    let url = database().await;
    drop(open(&url).await);
    let newest = strings(&url, "SELECT version::text FROM windlass_schema").await;
    run_query(&url, "UPDATE windlass_schema SET version = 999").await.unwrap();
    let error = refusal(&url).await;
    let StoreError::NewerSchema { found, known, .. } = &error else { panic!("{error}") };
    assert_eq!((*found, vec![known.to_string()]), (999, newest));
    says(&error, &["999", "upgrade windlass"]);
    assert_eq!(strings(&url, "SELECT version::text FROM windlass_schema").await, ["999"]);
}

#[tokio::test]
async fn a_database_of_a_development_version_is_left_alone() {
    let url = database().await;
    drop(open(&url).await);
    run_query(&url, "UPDATE windlass_schema SET version = 8").await.unwrap();
    let error = refusal(&url).await;
    assert!(matches!(error, StoreError::OlderSchema { found: 8, .. }), "{error}");
    says(&error, &["development version of windlass (schema 8)", "--store"]);
    assert_eq!(strings(&url, "SELECT version::text FROM windlass_schema").await, ["8"]);
}

// spec: FAULT-13
#[tokio::test]
async fn tables_of_another_program_stay() {
    let url = database().await;
    run_query(&url, "CREATE TABLE run (theirs INT)").await.unwrap();
    says(&refusal(&url).await, &["another program", "separate database"]);
    let ours = "SELECT count(*)::text FROM information_schema.tables WHERE table_name = 'lane'";
    assert_eq!(strings(&url, ours).await, ["0"], "half a schema was left behind");
}

#[tokio::test]
async fn another_encoding_is_refused() {
    let url = database().await;
    let make = "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0";
    run_query(&url, make).await.unwrap();
    let (server, _) = url.rsplit_once('/').unwrap();
    says(&refusal(&format!("{server}/latin")).await, &["LATIN1", "UTF8"]);
}

#[tokio::test]
async fn a_server_that_takes_no_more_connections() {
    let limits = "max_connections = 6\nsuperuser_reserved_connections = 0\n";
    let cluster = PostgresCluster::start_with(DiskMode::Trusted, limits).unwrap();
    let url = cluster.url("postgres");
    let mut holders = Vec::new();
    while let Ok((client, connection)) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await
    {
        holders.push((client, tokio::spawn(connection)));
    }
    says(&refusal(&url).await, &["no free connections", "max_connections"]);
    // One connection too few for the pool: work waits for it and then continues.
    holders.truncate(3);
    let store = tokio::time::timeout(Duration::from_secs(10), async {
        loop {
            if let Ok(store) = PostgresStore::open(&url).await {
                break store;
            }
        }
    });
    let store = store.await.unwrap();
    let waiting = tokio::spawn(async move { store.enqueue_message(lane("a"), message("k")).await });
    tokio::task::yield_now().await;
    holders.clear();
    waiting.await.unwrap().unwrap();
}
