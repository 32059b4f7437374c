use super::*;

fn worker_ring(own: &str, others: &[&str]) -> WorkerRing {
    let mut ring = WorkerRing::new(own.into());
    others.iter().for_each(|other| ring.record_alive(other));
    ring
}

#[test]
fn of_each_lane_exactly_one_goes_first_and_all_get_their_share() {
    let names = ["a", "b", "c", "d"];
    let all = names.map(|own| worker_ring(own, &names));
    let mut shares = [0; 4];
    for nth in 0..1_000 {
        let lane = LaneId::from(format!("lane:{nth}"));
        let first: Vec<_> = (0..4).filter(|one| all[*one].is_first_choice(&lane)).collect();
        assert_eq!(first.len(), 1, "{lane}");
        shares[first[0]] += 1;
    }
    assert!(shares.iter().all(|share| *share > 150), "{shares:?}");
}

#[test]
fn who_is_alone_goes_first_and_who_fell_silent_goes_last() {
    let lane = (0..).map(|nth| LaneId::from(format!("lane:{nth}")));
    let mut pair = worker_ring("a", &["b"]);
    let lane = lane.into_iter().find(|lane| !pair.is_first_choice(lane)).unwrap();
    assert!(worker_ring("a", &["a"]).is_first_choice(&lane));
    for _ in 0..MAX_SILENT_ROUNDS {
        pair.expire_silent();
        assert!(!pair.is_first_choice(&lane));
    }
    pair.expire_silent();
    assert!(pair.is_first_choice(&lane));
}

#[test]
fn strangers_do_not_fill_the_memory() {
    let mut ring = worker_ring("a", &["b"]);
    (0..2 * MAX_WORKERS).for_each(|nth| ring.record_alive(&nth.to_string()));
    assert_eq!(ring.others.len(), MAX_WORKERS);
    ring.expire_silent();
    ring.record_alive("b");
    assert_eq!(ring.others["b"], 0);
}
