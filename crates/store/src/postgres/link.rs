//! One connection. It is used by one piece of work at a time, keeps its statements prepared, and is
//! closed at once when dropped: what the server still does on it nobody waits for.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row, Statement};

use super::address::Statements;
use super::home::Home;
use super::trouble::{Trouble, silent, sort};

#[cfg(test)]
#[path = "link_tests.rs"]
mod link_tests;

/// A value to be sent.
pub(super) type Value<'v> = &'v (dyn ToSql + Sync);

/// A server that was told to lie about commits must not lie about ours. And plans are made once,
/// when tables may still be empty: every statement of ours has its index, and a plan that reads a
/// whole table, or all of an index, instead would be kept while the table grows.
const WISHES: [&str; 5] = [
    "SELECT set_config('synchronous_commit', 'on', false)
     WHERE current_setting('synchronous_commit') = 'off'",
    "SET plan_cache_mode = force_generic_plan",
    "SET enable_seqscan = off",
    "SET random_page_cost = 0.1",
    "SET jit = off",
];

/// A statement and the types of its values.
#[derive(Debug)]
pub(super) struct Sql {
    pub(super) text: String,
    pub(super) types: Vec<Type>,
}

impl Sql {
    pub(super) fn new(text: &str, types: &[Type]) -> Self {
        Self { text: text.to_owned(), types: types.to_vec() }
    }
}

pub(super) struct Link {
    home: Arc<Home>,
    client: Client,
    driver: JoinHandle<()>,
    /// By the address of the statement, which lives as long as the program.
    prepared: HashMap<usize, Statement>,
}

impl Link {
    /// A connection with its settings made.
    pub(super) async fn connect(home: &Arc<Home>) -> Result<Self, Trouble> {
        let link = Self::bare(home).await?;
        link.set_up().await?;
        Ok(link)
    }

    /// A connection as the server gives it.
    pub(super) async fn bare(home: &Arc<Home>) -> Result<Self, Trouble> {
        let connecting = home.address.config.connect(home.tls.clone());
        let (client, connection) = within(home, connecting).await?;
        let driver = tokio::spawn(async move {
            // How it ended is told to whoever waits for an answer.
            _ = connection.await;
        });
        Ok(Self { home: Arc::clone(home), client, driver, prepared: HashMap::new() })
    }

    /// Bounds what the server does for us after we stopped waiting. Behind a pool of transactions
    /// such settings would be somebody else's, so none are made there.
    pub(super) async fn set_up(&self) -> Result<(), Trouble> {
        if self.home.statements() == Statements::Unprepared {
            return Ok(());
        }
        let ms = self.home.settings.answer.as_millis();
        let bounds =
            format!("SET statement_timeout = {ms}; SET idle_in_transaction_session_timeout = {ms}");
        match self.batch(&[&bounds, WISHES.join("; ").as_str()].join("; ")).await {
            Err(Trouble::Server(_)) => self.set_up_singly(&bounds).await,
            other => other,
        }
    }

    /// Not every engine knows every wish; what has no such setting needs none.
    async fn set_up_singly(&self, bounds: &str) -> Result<(), Trouble> {
        self.batch(bounds).await?;
        for wish in WISHES {
            match self.batch(wish).await {
                Err(lost @ Trouble::Lost(_)) => return Err(lost),
                _ => continue,
            }
        }
        Ok(())
    }

    /// Asks once, in one round trip.
    pub(super) async fn query(
        &mut self,
        sql: &'static Sql,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, Trouble> {
        match self.home.statements() {
            Statements::Prepared => {
                let statement = self.statement(sql).await?;
                within(&self.home, self.client.query(&statement, values)).await
            }
            Statements::Unprepared => {
                let typed: Vec<_> = values.iter().copied().zip(sql.types.iter().cloned()).collect();
                within(&self.home, self.client.query_typed(&sql.text, &typed)).await
            }
        }
    }

    /// Statements without values and without answers.
    pub(super) async fn batch(&self, text: &str) -> Result<(), Trouble> {
        within(&self.home, self.client.batch_execute(text)).await
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    pub(super) fn place(&self) -> &str {
        self.home.place()
    }

    async fn statement(&mut self, sql: &'static Sql) -> Result<Statement, Trouble> {
        let name = std::ptr::from_ref(sql).addr();
        if let Some(known) = self.prepared.get(&name) {
            return Ok(known.clone());
        }
        let preparing = self.client.prepare_typed(&sql.text, &sql.types);
        let statement = within(&self.home, preparing).await?;
        self.prepared.insert(name, statement.clone());
        Ok(statement)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// Waits for an answer, but not for ever: a frozen server keeps its connections open.
async fn within<T>(
    home: &Home,
    asking: impl Future<Output = Result<T, Error>>,
) -> Result<T, Trouble> {
    match timeout(home.settings.answer, asking).await {
        Ok(answer) => answer.map_err(|error| sort(home.place(), &error)),
        Err(_) => Err(silent(home.place(), home.settings.answer.as_millis())),
    }
}
