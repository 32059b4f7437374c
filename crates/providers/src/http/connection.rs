//! One connection, driven by whoever uses it.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use super::body::Chunks;
use super::connect::Line;

type Driver = http1::Connection<TokioIo<Box<dyn Line>>, Chunks>;

/// A connection on which one request at a time is under way.
pub(super) struct Connection {
    send: http1::SendRequest<Chunks>,
    /// Nothing once the connection is over.
    driver: Option<Box<Driver>>,
}

impl Connection {
    pub(super) async fn open(line: Box<dyn Line>) -> hyper::Result<Self> {
        let (send, driver) = http1::handshake(TokioIo::new(line)).await?;
        Ok(Self { send, driver: Some(Box::new(driver)) })
    }

    /// Sends a request and waits for the beginning of its answer.
    pub(super) async fn send(
        &mut self,
        request: Request<Chunks>,
    ) -> hyper::Result<Response<Incoming>> {
        let Self { send, driver } = self;
        let mut answer = pin!(send.send_request(request));
        poll_fn(|cx| driven(driver, cx, |cx| answer.as_mut().poll(cx))).await
    }

    /// The next piece of a body; nothing at its end.
    pub(super) async fn piece(&mut self, body: &mut Incoming) -> Option<hyper::Result<Bytes>> {
        loop {
            let frame = poll_fn(|cx| {
                driven(&mut self.driver, cx, |cx| Pin::new(&mut *body).poll_frame(cx))
            })
            .await?;
            match frame.map(http_body::Frame::into_data) {
                Ok(Ok(data)) => return Some(Ok(data)),
                // Trailers say nothing we need.
                Ok(Err(_)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Waits until another request could be sent; false if none can.
    pub(super) async fn is_free(&mut self) -> bool {
        let Self { send, driver } = self;
        poll_fn(|cx| driven(driver, cx, |cx| send.poll_ready(cx))).await.is_ok()
    }

    /// Whether the other side has hung up while nobody looked.
    pub(super) fn is_over(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        drive(&mut self.driver, &mut cx);
        self.driver.is_none() || self.send.is_closed()
    }
}

/// Polls what is waited for, and the connection if that alone does not bring it.
fn driven<T>(
    driver: &mut Option<Box<Driver>>,
    cx: &mut Context<'_>,
    mut wanted: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Poll<T> {
    if let Poll::Ready(value) = wanted(cx) {
        return Poll::Ready(value);
    }
    drive(driver, cx);
    wanted(cx)
}

fn drive(driver: &mut Option<Box<Driver>>, cx: &mut Context<'_>) {
    if let Some(connection) = driver
        && Pin::new(connection.as_mut()).poll(cx).is_ready()
    {
        *driver = None;
    }
}
