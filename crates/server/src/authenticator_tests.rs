use std::time::Duration;

use tokio::time::Instant;

use super::TokenBucket;

#[test]
fn a_bucket_holds_what_comes_in_a_second() {
    let start = Instant::now();
    let mut bucket = TokenBucket { level: 3.0, seen: start };
    let taken = (0..5).filter(|_| bucket.take(3.0, start)).count();
    assert_eq!(taken, 3);
    assert!(!bucket.take(3.0, start + Duration::from_millis(100)));
    assert!(bucket.take(3.0, start + Duration::from_millis(500)));
    let later = start + Duration::from_secs(3_600);
    assert_eq!((0..9).filter(|_| bucket.take(3.0, later)).count(), 3);
}
