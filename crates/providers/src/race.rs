//! Waits for the first of two futures.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// Which of two futures finished first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First<A, B> {
    Left(A),
    Right(B),
}

/// Waits for the left future; the right one is created only if the left one is not ready at once.
pub(crate) async fn first_or<A, B, R: Future<Output = B>>(
    left: impl Future<Output = A>,
    right: impl FnOnce() -> R,
) -> First<A, B> {
    let mut left = pin!(left);
    match poll_fn(|cx| Poll::Ready(left.as_mut().poll(cx))).await {
        Poll::Ready(value) => First::Left(value),
        Poll::Pending => first_of(left, right()).await,
    }
}

/// Waits for either future; the left one wins a tie, the other one is dropped.
pub(crate) async fn first_of<A, B>(
    left: impl Future<Output = A>,
    right: impl Future<Output = B>,
) -> First<A, B> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|cx| {
        if let Poll::Ready(value) = left.as_mut().poll(cx) {
            return Poll::Ready(First::Left(value));
        }
        right.as_mut().poll(cx).map(First::Right)
    })
    .await
}
