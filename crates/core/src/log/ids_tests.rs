use super::RunId;

#[test]
fn a_derived_run_id_is_a_uuid_and_always_the_same() {
    let one = RunId::from_name("conversation:a/1.0-0");
    assert_eq!(one, RunId::from_name("conversation:a/1.0-0"));
    assert_ne!(one, RunId::from_name("conversation:a/1.0-1"));
    for name in 0..500 {
        let id = RunId::from_name(&format!("{name}"));
        assert!(id.is_uuid(), "{id}");
        let (version, variant) = (id.as_str().as_bytes()[14], id.as_str().as_bytes()[19]);
        assert_eq!(version, b'8', "{id}");
        assert!(b"89ab".contains(&variant), "{id}");
    }
}

#[test]
fn only_the_usual_spelling_is_a_uuid() {
    assert!(RunId::from("0199d1c0-7a4e-7c30-9f00-000000000001").is_uuid());
    for other in [
        "",
        "run-1",
        "run:fam/1.0-0",
        "0199d1c07a4e7c309f00000000000001",
        "0199D1C0-7A4E-7C30-9F00-000000000001",
        "0199d1c0-7a4e-7c30-9f00-00000000000g",
        "0199d1c0-7a4e-7c30-9f00-0000000000012",
        "{0199d1c0-7a4e-7c30-9f00-000000000001}",
    ] {
        assert!(!RunId::from(other).is_uuid(), "{other}");
    }
}
