//! Jobs: who waits, who has which, and how each ended.

use std::time::Duration;

use crate::database::Database;
use crate::driver::{Driver, Value};
use crate::error::QueueError;
use crate::queue::{
    Beat, Claim, Content, Ended, Job, JobState, JobView, Order, PAYLOAD_LIMIT, Queue,
};
use crate::store::{keep, result};

/// How often claims that have ended are looked for while jobs wait.
const LOOK: Duration = Duration::from_millis(500);
/// What is said of a job whose workers all vanished; whoever reads it gives it a form.
const LOST: &[u8] = b"";

impl JobState {
    const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    fn of(word: &str) -> Self {
        let all = [Self::Waiting, Self::Running, Self::Done, Self::Cancelled];
        // A word that no version writes is a job that nobody can do.
        all.into_iter().find(|state| state.word() == word).unwrap_or(Self::Failed)
    }

    /// Whether nothing more will happen.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

impl Queue for Database {
    fn submit(&self, job: &Job, contents: &[Content<'_>]) -> Result<JobState, QueueError> {
        self.whole(false, |driver| {
            let is_known = result(driver, &job.key)?.is_some();
            let state = if is_known { JobState::Done } else { JobState::Waiting };
            if !is_known {
                let waiting = "SELECT COUNT(*) FROM jobs WHERE state = 'waiting'";
                let waiting = driver.rows(waiting, &[])?.into_iter().next();
                if waiting.map_or(0, |mut row| row.number()) as u64 >= self.limits.waiting {
                    return Err(QueueError::Full { most: self.limits.waiting });
                }
                contents.iter().try_for_each(|content| keep(driver, &job.id, content))?;
            }
            // Owners take turns: one that has none waiting joins the round that is next.
            driver.change(
                "INSERT INTO jobs (id, kind, payload, owner, turn, born, state, attempt, lost, key, seen) \
                 VALUES ($1, $2, $3, $4, COALESCE(1 + (SELECT MAX(turn) FROM jobs \
                     WHERE state = 'waiting' AND owner = $4), \
                     (SELECT MIN(turn) FROM jobs WHERE state = 'waiting'), 1), \
                 @now, $5, 0, 0, $6, @now) ON CONFLICT (id) DO NOTHING",
                &[
                    job.id.as_str().into(),
                    job.kind.as_str().into(),
                    job.payload.as_slice().into(),
                    job.owner.as_str().into(),
                    state.word().into(),
                    job.key.as_str().into(),
                ],
            )?;
            Ok(state)
        })
    }

    fn claim(&self, worker: &str, kinds: &[&str]) -> Result<Option<Claim>, QueueError> {
        if self.is_due(LOOK) {
            self.with(|driver| end_leases(driver, self.limits.attempts))?;
        }
        for kind in kinds {
            let claimed = self.with(|driver| {
                driver.rows(
                    "UPDATE jobs SET state = 'running', attempt = attempt + 1, lease = @now + $1, \
                     worker = $2, news = NULL WHERE state = 'waiting' AND id = (SELECT id FROM jobs \
                     WHERE state = 'waiting' AND kind = $3 ORDER BY turn, born, id LIMIT 1 @skip) \
                     RETURNING id, attempt, CASE WHEN LENGTH(payload) <= CAST($4 AS BIGINT) THEN payload END",
                    &[
                        self.lease(),
                        worker.into(),
                        (*kind).into(),
                        (PAYLOAD_LIMIT as i64).into(),
                    ],
                )
            })?;
            if let Some(mut row) = claimed.into_iter().next() {
                return Ok(Some(Claim {
                    id: row.text(),
                    kind: (*kind).to_owned(),
                    attempt: row.number(),
                    payload: row.bytes(),
                }));
            }
        }
        Ok(None)
    }

    fn beat(&self, claim: &Claim, news: &[u8]) -> Result<Beat, QueueError> {
        let rows = self.with(|driver| {
            driver.rows(
                "UPDATE jobs SET lease = @now + $1, news = $2 WHERE id = $3 AND attempt = $4 \
                 AND state = 'running' AND lease >= @now \
                 RETURNING CAST(CASE WHEN cancel IS NULL THEN 0 ELSE 1 END AS BIGINT)",
                &[self.lease(), news.into(), claim.id.as_str().into(), claim.attempt.into()],
            )
        })?;
        Ok(match rows.into_iter().next().map(|mut row| row.number()) {
            None => Beat::Lost,
            Some(0) => Beat::GoOn,
            Some(_) => Beat::Cancelled,
        })
    }

    fn finish(&self, claim: &Claim, ended: &Ended<'_>) -> Result<bool, QueueError> {
        self.whole(false, |driver| match ended {
            Ended::Done { key, result, beside } => {
                let new = driver.change(
                    "INSERT INTO results (key, hash) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                    &[(*key).into(), result.hash.as_str().into()],
                )?;
                if new > 0 {
                    keep(driver, key, result)?;
                    beside.iter().try_for_each(|content| keep(driver, key, content))?;
                }
                end(driver, claim, JobState::Done, Value::Nothing, Some(key))
            }
            Ended::Known { key } => {
                if result(driver, key)?.is_none() {
                    let what = "not there any more";
                    return Err(QueueError::Content { hash: (*key).to_owned(), what });
                }
                end(driver, claim, JobState::Done, Value::Nothing, Some(key))
            }
            Ended::Failed(why) => end(driver, claim, JobState::Failed, (*why).into(), None),
            Ended::Cancelled(why) => end(driver, claim, JobState::Cancelled, (*why).into(), None),
            Ended::GivenBack => Ok(driver.change(
                "UPDATE jobs SET state = CASE WHEN cancel IS NULL THEN 'waiting' ELSE 'cancelled' END, \
                 problem = cancel WHERE id = $1 AND attempt = $2 AND state = 'running'",
                &[claim.id.as_str().into(), claim.attempt.into()],
            )? > 0),
        })
    }

    fn cancel(&self, id: &str, why: &[u8]) -> Result<(), QueueError> {
        self.with(|driver| {
            driver.change(
                "UPDATE jobs SET cancel = $2, \
                 problem = CASE WHEN state = 'waiting' THEN $2 ELSE problem END, \
                 seen = @now, state = CASE WHEN state = 'waiting' THEN 'cancelled' ELSE state END \
                 WHERE id = $1 AND state IN ('waiting', 'running')",
                &[id.into(), why.into()],
            )
        })?;
        Ok(())
    }
}

impl Database {
    fn lease(&self) -> Value {
        Value::Number(i64::try_from(self.limits.lease.as_millis()).unwrap_or(i64::MAX / 2))
    }

    /// Says that someone asked for a job, so that it is not dropped for its age.
    ///
    /// # Errors
    /// If the queue cannot be used.
    pub fn touch(&self, id: &str) -> Result<(), QueueError> {
        self.with(|driver| {
            driver.change("UPDATE jobs SET seen = @now WHERE id = $1", &[id.into()])
        })?;
        Ok(())
    }

    /// What is known of a job.
    ///
    /// # Errors
    /// If the queue cannot be used.
    pub fn look(&self, id: &str) -> Result<Option<JobView>, QueueError> {
        self.with(|driver| {
            let rows = driver.rows(
                "SELECT kind, payload, state, \
                 CASE WHEN state = 'waiting' THEN (SELECT COUNT(*) FROM jobs AS earlier \
                     WHERE earlier.state = 'waiting' AND (earlier.turn, earlier.born, earlier.id) \
                     <= (jobs.turn, jobs.born, jobs.id)) ELSE 0 END, attempt, lost, news, problem, \
                 (SELECT hash FROM results WHERE results.key = jobs.key) FROM jobs WHERE id = $1",
                &[id.into()],
            )?;
            Ok(rows.into_iter().next().map(|mut row| JobView {
                kind: row.text(),
                payload: row.bytes(),
                state: JobState::of(&row.text()),
                position: row.number() as usize,
                attempts: row.number(),
                lost: row.number(),
                news: row.bytes(),
                problem: row.bytes(),
                result: row.maybe_text(),
            }))
        })
    }

    /// The jobs that wait, the next first, `most` at most.
    ///
    /// # Errors
    /// If the queue cannot be used.
    pub fn waiting(&self, most: u32) -> Result<Order, QueueError> {
        self.with(|driver| {
            let these =
                "SELECT id FROM jobs WHERE state = 'waiting' ORDER BY turn, born, id LIMIT $1";
            let rows = driver.rows(these, &[i64::from(most).into()])?;
            Ok(rows.into_iter().map(|mut row| row.text()).collect())
        })
    }
}

/// Ends a claim that has not ended.
fn end(
    driver: &mut dyn Driver,
    claim: &Claim,
    state: JobState,
    problem: Value,
    key: Option<&str>,
) -> Result<bool, QueueError> {
    let ended = driver.change(
        "UPDATE jobs SET state = $3, problem = $4, key = COALESCE($5, key), seen = @now, news = NULL \
         WHERE id = $1 AND attempt = $2 AND state = 'running' AND lease >= @now",
        &[
            claim.id.as_str().into(),
            claim.attempt.into(),
            state.word().into(),
            problem,
            key.map_or(Value::Nothing, Value::from),
        ],
    )?;
    Ok(ended > 0)
}

/// Jobs whose workers gave no sign of life wait again, or end if that happened too often.
fn end_leases(driver: &mut dyn Driver, attempts: u32) -> Result<(), QueueError> {
    driver.change(
        "UPDATE jobs SET lost = lost + 1, state = CASE WHEN cancel IS NOT NULL THEN 'cancelled' \
             WHEN lost + 1 >= $1 THEN 'failed' ELSE 'waiting' END, \
         problem = CASE WHEN cancel IS NOT NULL THEN cancel WHEN lost + 1 >= $1 THEN $2 END, \
         seen = @now WHERE state = 'running' AND lease < @now",
        &[i64::from(attempts).into(), LOST.into()],
    )?;
    Ok(())
}
