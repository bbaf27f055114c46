//! What is dropped: jobs that are over and too old or too many, and what nobody needs any more.

use crate::database::Database;
use crate::driver::Driver;
use crate::error::QueueError;

/// The part of all jobs that is dropped at a time while results take too much.
const AT_ONCE: i64 = 16;

/// What was dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Jobs.
    pub jobs: u64,
    /// Contents.
    pub contents: u64,
}

/// Jobs that are over.
const OVER: &str = "state IN ('done', 'failed', 'cancelled')";

impl Database {
    /// Drops jobs that are over beyond the limits, those asked for longest ago first, with the results that no job has
    /// any more and the contents that neither a result nor a job needs that is not over.
    ///
    /// # Errors
    /// If the queue cannot be used; nothing is dropped then.
    pub fn sweep(&self) -> Result<Swept, QueueError> {
        let limits = self.limits;
        let age = i64::try_from(limits.age.as_millis()).unwrap_or(i64::MAX / 2);
        let swept = self.whole(true, |driver| {
            let mut swept = Swept::default();
            swept.jobs += driver.change(
                &format!("DELETE FROM jobs WHERE {OVER} AND seen < @now - $1"),
                &[age.into()],
            )?;
            let over = driver.rows(&format!("SELECT COUNT(*) FROM jobs WHERE {OVER}"), &[])?;
            let over = over.into_iter().next().map_or(0, |mut row| row.number());
            let surplus = over - i64::try_from(limits.count).unwrap_or(i64::MAX);
            if surplus > 0 {
                swept.jobs += oldest(driver, surplus)?;
            }
            swept.contents += unused(driver)?;
            while bytes(driver)? > limits.bytes {
                let jobs = oldest(driver, (over / AT_ONCE).max(1))?;
                if jobs == 0 {
                    break;
                }
                swept.jobs += jobs;
                swept.contents += unused(driver)?;
            }
            Ok(swept)
        })?;
        if swept.contents > 0 {
            self.with(|driver| driver.shrink())?;
        }
        Ok(swept)
    }
}

fn oldest(driver: &mut dyn Driver, count: i64) -> Result<u64, QueueError> {
    let these = format!("SELECT id FROM jobs WHERE {OVER} ORDER BY seen, born LIMIT $1");
    driver.change(&format!("DELETE FROM jobs WHERE id IN ({these})"), &[count.into()])
}

fn unused(driver: &mut dyn Driver) -> Result<u64, QueueError> {
    driver.change(
        "DELETE FROM results WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.key = results.key)",
        &[],
    )?;
    driver.change(
        &format!(
            "DELETE FROM uses WHERE NOT EXISTS (SELECT 1 FROM results WHERE results.key = uses.owner) \
             AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = uses.owner AND NOT ({OVER}))"
        ),
        &[],
    )?;
    let gone = driver.change(
        "DELETE FROM blobs WHERE NOT EXISTS (SELECT 1 FROM uses WHERE uses.hash = blobs.hash)",
        &[],
    )?;
    if gone > 0 {
        driver.change(
            "DELETE FROM pieces WHERE NOT EXISTS (SELECT 1 FROM blobs WHERE blobs.hash = pieces.hash)",
            &[],
        )?;
    }
    Ok(gone)
}

fn bytes(driver: &mut dyn Driver) -> Result<u64, QueueError> {
    let all = "SELECT CAST(COALESCE(SUM(length), 0) AS BIGINT) FROM blobs WHERE EXISTS \
               (SELECT 1 FROM uses JOIN results ON results.key = uses.owner WHERE uses.hash = blobs.hash)";
    Ok(driver.rows(all, &[])?.into_iter().next().map_or(0, |mut row| row.number() as u64))
}
