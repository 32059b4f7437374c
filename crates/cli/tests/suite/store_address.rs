//! The store location: the flag, `WINDLASS_STORE`, `config.toml`; and a password that is in none of
//! them.

use windlass_cluster::{DiskMode, PostgresCluster};

use crate::test_home::TestHome;

const HI: [&str; 4] = ["-p", "hi", "--script", "a.script"];

#[test]
fn the_flag_counts_more_than_the_variable_and_the_variable_more_than_the_file() {
    let home = TestHome::new("when any\n  say \"x\"\n");
    std::fs::create_dir(home.path("home")).unwrap();
    home.write("home/config.toml", "store = \"of-config.db\"\n");
    let variable = [("WINDLASS_STORE", "of-variable.db")];
    let ran = home.run_with_env(&[&HI, ["--store", "of-flag.db"].as_slice()].concat(), &variable);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let exists =
        || ["of-flag.db", "of-variable.db", "of-config.db"].map(|it| home.path(it).exists());
    assert_eq!(exists(), [true, false, false]);
    assert_eq!(home.run_with_env(&HI, &variable).code, 0);
    assert_eq!(exists(), [true, true, false]);
    // An empty variable counts as not set.
    assert_eq!(home.run_with_env(&HI, &[("WINDLASS_STORE", "")]).code, 0);
    assert_eq!(exists(), [true, true, true]);
    let runs = home.run_with_env(&["runs", "--json"], &variable);
    assert_eq!(runs.out.lines().count(), 1, "{}", runs.out);
}

#[test]
fn an_address_that_no_store_understands_is_refused_wherever_it_stands() {
    let home = TestHome::new("when any\n  say \"x\"\n");
    let ran = home.run_with_env(&HI, &[("WINDLASS_STORE", "postgress://db/windlass")]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("WINDLASS_STORE") && ran.err.contains("postgress"), "{}", ran.err);
    assert_eq!(ran.err.trim().lines().count(), 1, "{}", ran.err);
}

/// A server that requires a password of one of its users.
fn cluster_with_password() -> (PostgresCluster, String) {
    let cluster = PostgresCluster::start(DiskMode::Trusted).unwrap();
    let url = cluster.url("postgres");
    let ask = |text: &'static str| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(windlass_cluster::run_query(&url, text)).unwrap();
    };
    ask("CREATE ROLE guarded LOGIN PASSWORD 'open-sesame'");
    ask("GRANT ALL ON SCHEMA public TO guarded");
    let rules = cluster.folder().join("data/pg_hba.conf");
    let old = std::fs::read_to_string(&rules).unwrap();
    std::fs::write(&rules, format!("host all guarded 127.0.0.1/32 scram-sha-256\n{old}")).unwrap();
    cluster.reload("postgresql.conf", "").unwrap();
    let guarded = url.replace("windlass@", "guarded@");
    (cluster, guarded)
}

#[test]
fn the_password_of_a_server_comes_from_a_variable_and_is_never_shown() {
    let home = TestHome::new("when any\n  say \"x\"\n");
    let (_cluster, url) = cluster_with_password();
    let right = [("WINDLASS_STORE", url.as_str()), ("PGPASSWORD", "open-sesame")];
    let ran = home.run_with_env(&HI, &right);
    assert_eq!((ran.code, ran.out.as_str()), (0, "x\n"), "{}", ran.err);
    assert_eq!(home.run_with_env(&["runs", "--json"], &right).out.lines().count(), 1);

    let wrong = [("WINDLASS_STORE", url.as_str()), ("PGPASSWORD", "open-barley")];
    for args in [HI.as_slice(), &["runs"], &["doctor"]] {
        let ran = home.run_with_env(args, &wrong);
        let output = format!("{}{}", ran.out, ran.err);
        assert_ne!(ran.code, 0, "{output}");
        assert!(output.contains("password"), "{output}");
        assert!(!output.contains("open-barley"), "{output}");
    }
    // A password in the address takes precedence, because it was written there on purpose.
    let named = url.replace("guarded@", "guarded:open-sesame@");
    let ran = home.run_with_env(
        &["runs", "--json"],
        &[("WINDLASS_STORE", named.as_str()), ("PGPASSWORD", "open-barley")],
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    for args in [["doctor"].as_slice(), &["runs"], &["doctor", "--json"]] {
        let ran = home.run_with_env(args, &right);
        let output = format!("{}{}", ran.out, ran.err);
        assert_eq!(ran.code, 0, "{output}");
        assert!(!output.contains("open-sesame"), "{output}");
    }
}

#[test]
fn doctor_says_of_a_server_that_it_answers_and_does_not_look_for_a_file() {
    let home = TestHome::new("when any\n  say \"x\"\n");
    let cluster = PostgresCluster::start(DiskMode::Trusted).unwrap();
    let url = cluster.url("postgres");
    let ran = home.run_bare(&["doctor", "--store", &url]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let about_store: Vec<&str> = ran.out.lines().filter(|line| line.contains("store")).collect();
    assert!(about_store.iter().any(|line| line.contains("responds")), "{about_store:?}");
    assert!(!ran.out.contains("does not exist") || !ran.out.contains("store: "), "{}", ran.out);
    assert!(!about_store.iter().any(|line| line.contains("store: ")), "{about_store:?}");
}
