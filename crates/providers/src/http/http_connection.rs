//! One HTTP/1.1 connection, polled by the task that uses it.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use super::body::SharedBody;
use super::dial::ByteStream;

type ConnectionDriver = http1::Connection<TokioIo<Box<dyn ByteStream>>, SharedBody>;

/// A connection with one request at a time in flight.
pub(super) struct HttpConnection {
    send: http1::SendRequest<SharedBody>,
    /// The connection's future; `None` once the connection has ended.
    driver: Option<Box<ConnectionDriver>>,
}

impl HttpConnection {
    pub(super) async fn open(line: Box<dyn ByteStream>) -> hyper::Result<Self> {
        let (send, driver) = http1::handshake(TokioIo::new(line)).await?;
        Ok(Self { send, driver: Some(Box::new(driver)) })
    }

    /// Sends a request and waits for the head of its response.
    pub(super) async fn send(
        &mut self,
        request: Request<SharedBody>,
    ) -> hyper::Result<Response<Incoming>> {
        let Self { send, driver } = self;
        let mut answer = pin!(send.send_request(request));
        poll_fn(|cx| poll_while_driving(driver, cx, |cx| answer.as_mut().poll(cx))).await
    }

    /// Returns the next chunk of a body; `None` at its end.
    pub(super) async fn next_chunk(&mut self, body: &mut Incoming) -> Option<hyper::Result<Bytes>> {
        loop {
            let frame = poll_fn(|cx| {
                poll_while_driving(&mut self.driver, cx, |cx| Pin::new(&mut *body).poll_frame(cx))
            })
            .await?;
            match frame.map(http_body::Frame::into_data) {
                Ok(Ok(data)) => return Some(Ok(data)),
                // Trailers contain nothing that is needed.
                Ok(Err(_)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Waits until another request could be sent; returns `false` if none can.
    pub(super) async fn wait_until_reusable(&mut self) -> bool {
        let Self { send, driver } = self;
        poll_fn(|cx| poll_while_driving(driver, cx, |cx| send.poll_ready(cx))).await.is_ok()
    }

    /// Returns whether the peer has closed the connection while it was idle.
    pub(super) fn is_closed(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        poll_driver(&mut self.driver, &mut cx);
        self.driver.is_none() || self.send.is_closed()
    }
}

/// Polls a future, and the connection if the future alone is not ready.
fn poll_while_driving<T>(
    driver: &mut Option<Box<ConnectionDriver>>,
    cx: &mut Context<'_>,
    mut wanted: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Poll<T> {
    if let Poll::Ready(value) = wanted(cx) {
        return Poll::Ready(value);
    }
    poll_driver(driver, cx);
    wanted(cx)
}

fn poll_driver(driver: &mut Option<Box<ConnectionDriver>>, cx: &mut Context<'_>) {
    if let Some(connection) = driver
        && Pin::new(connection.as_mut()).poll(cx).is_ready()
    {
        *driver = None;
    }
}
