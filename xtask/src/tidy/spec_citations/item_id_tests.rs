use super::item_id::is_item_id;

#[test]
fn ids_are_capitals_and_a_number() {
    assert!(["STOP-03", "MAIL-1", "EARLY-START-12", "S3-18"].iter().all(|id| is_item_id(id)));
}

#[test]
fn anything_else_is_not() {
    let others = ["", "STOP", "STOP-", "-03", "stop-03", "STOP-03a", "STOP 03", "3S-1", "STOP-x"];
    assert!(!others.iter().any(|text| is_item_id(text)));
}
