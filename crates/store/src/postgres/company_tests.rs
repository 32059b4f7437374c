use super::*;

fn company(own: &str, others: &[&str]) -> Company {
    let mut company = Company::of(own.into());
    others.iter().for_each(|other| company.hear(other));
    company
}

#[test]
fn of_each_lane_exactly_one_goes_first_and_all_get_their_share() {
    let names = ["a", "b", "c", "d"];
    let all = names.map(|own| company(own, &names));
    let mut shares = [0; 4];
    for nth in 0..1_000 {
        let lane = LaneId::from(format!("lane:{nth}"));
        let first: Vec<_> = (0..4).filter(|one| all[*one].goes_first(&lane)).collect();
        assert_eq!(first.len(), 1, "{lane}");
        shares[first[0]] += 1;
    }
    assert!(shares.iter().all(|share| *share > 150), "{shares:?}");
}

#[test]
fn who_is_alone_goes_first_and_who_fell_silent_goes_last() {
    let lane = (0..).map(|nth| LaneId::from(format!("lane:{nth}")));
    let mut pair = company("a", &["b"]);
    let lane = lane.into_iter().find(|lane| !pair.goes_first(lane)).unwrap();
    assert!(company("a", &["a"]).goes_first(&lane));
    for _ in 0..PATIENCE {
        pair.age();
        assert!(!pair.goes_first(&lane));
    }
    pair.age();
    assert!(pair.goes_first(&lane));
}

#[test]
fn strangers_do_not_fill_the_memory() {
    let mut company = company("a", &["b"]);
    (0..2 * MOST).for_each(|nth| company.hear(&nth.to_string()));
    assert_eq!(company.others.len(), MOST);
    company.age();
    company.hear("b");
    assert_eq!(company.others["b"], 0);
}
