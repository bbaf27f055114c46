//! Where a film is, and what moves it.

use tilewright_plan::Micros;

/// Time that playing the whole film takes at first, in milliseconds.
const WHOLE_MS: f64 = 24_000.0;
/// Each step of the speed is so many times as fast as the one below.
const FASTER: f64 = 4.0;
/// The slowest and the fastest.
const SPEEDS: [i8; 2] = [-7, 1];

/// Where a film is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Head {
    /// Microseconds from its beginning on the board.
    pub at_us: f64,
    pub is_playing: bool,
    /// How often it was made faster, less how often slower.
    pub speed: i8,
}

/// What moves it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Move {
    /// To a time, in microseconds.
    To(f64),
    /// To where the next task begins.
    Next,
    /// To where the task before begins.
    Back,
    /// To the end.
    Last,
    /// Play, or stop playing; at the end, play from the beginning.
    Toggle,
    /// So many milliseconds have passed.
    Tick(f64),
    Faster,
    Slower,
}

impl Move {
    /// What a key means, by its name in the browser.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        Some(match key {
            " " => Self::Toggle,
            "ArrowLeft" => Self::Back,
            "ArrowRight" => Self::Next,
            "ArrowUp" | "+" => Self::Faster,
            "ArrowDown" | "-" => Self::Slower,
            "Home" => Self::To(0.0),
            "End" => Self::Last,
            _ => return None,
        })
    }
}

/// The times that a head moves among.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// When tasks begin, in order.
    pub tasks_us: Vec<f64>,
    pub end_us: f64,
}

impl Times {
    /// Those of two films on one clock.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        let mut tasks_us: Vec<f64> = self.tasks_us.iter().chain(&other.tasks_us).copied().collect();
        tasks_us.sort_by(f64::total_cmp);
        tasks_us.dedup();
        Self { tasks_us, end_us: self.end_us.max(other.end_us) }
    }

    /// The number of the last task that began by a time, from 1 on; 0 before the first.
    #[must_use]
    pub fn task(&self, at_us: f64) -> usize {
        self.tasks_us.partition_point(|task| *task <= at_us)
    }
}

impl Head {
    /// How long a second of the film is on the board.
    #[must_use]
    pub fn second(self, times: &Times) -> Micros {
        Micros(times.end_us * 1_000.0 / WHOLE_MS * FASTER.powi(self.speed.into()))
    }

    /// After a move.
    #[must_use]
    pub fn moved(self, by: Move, times: &Times) -> Self {
        let end = times.end_us;
        let at = self.at_us.clamp(0.0, end);
        let stopped = |at_us: f64| Self { at_us: at_us.clamp(0.0, end), is_playing: false, ..self };
        let faster = |by: i8| Self { speed: (self.speed + by).clamp(SPEEDS[0], SPEEDS[1]), ..self };
        match by {
            Move::To(at_us) => stopped(at_us),
            Move::Next => stopped(times.tasks_us.get(times.task(at)).copied().unwrap_or(end)),
            Move::Back => {
                let before = times.tasks_us.partition_point(|task| *task < at);
                stopped(before.checked_sub(1).map_or(0.0, |before| times.tasks_us[before]))
            }
            Move::Last => stopped(end),
            Move::Toggle if self.is_playing => stopped(at),
            Move::Toggle => {
                Self { at_us: if at >= end { 0.0 } else { at }, is_playing: end > 0.0, ..self }
            }
            Move::Tick(_) if !self.is_playing => self,
            Move::Tick(ms) => {
                let to = at + self.second(times).0 * ms / 1_000.0;
                Self { at_us: to.min(end), is_playing: to < end, ..self }
            }
            Move::Faster => faster(1),
            Move::Slower => faster(-1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times() -> Times {
        Times { tasks_us: vec![0.0, 10.0, 30.0], end_us: 40.0 }
    }

    fn pressed(start: Head, keys: &[&str]) -> Head {
        keys.iter().fold(start, |head, key| head.moved(Move::of_key(key).unwrap(), &times()))
    }

    #[test]
    fn playing_goes_to_the_end_and_stops_there() {
        let mut head = Head::default().moved(Move::Toggle, &times());
        let mut ticks = 0;
        while head.is_playing {
            head = head.moved(Move::Tick(100.0), &times());
            ticks += 1;
        }
        assert!(head.at_us == 40.0 && (240..=241).contains(&ticks), "24 seconds: {ticks}");
        assert_eq!(head.moved(Move::Tick(1.0), &times()), head, "a late tick does nothing");
        let again = head.moved(Move::Toggle, &times());
        assert_eq!((again.at_us, again.is_playing), (0.0, true), "again");
        let nothing = Times::default();
        assert!(!Head::default().moved(Move::Toggle, &nothing).is_playing, "nowhere to go");
    }

    #[test]
    fn keys_go_from_task_to_task_and_stop_the_playing() {
        let at = |keys: &[&str]| pressed(Head::default(), keys).at_us;
        assert_eq!(at(&["ArrowRight"]), 10.0);
        assert_eq!(at(&["ArrowRight", "ArrowRight", "ArrowRight"]), 40.0, "the end");
        assert_eq!(at(&["End", "ArrowLeft"]), 30.0);
        assert_eq!(at(&["End", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft"]), 0.0);
        let playing = Head { at_us: 15.0, is_playing: true, speed: 0 };
        assert_eq!(pressed(playing, &["ArrowLeft"]), Head { at_us: 10.0, ..Head::default() });
        assert_eq!(Move::of_key("Tab"), None);
        assert_eq!(times().task(30.0), 3);
    }

    #[test]
    fn slower_is_a_quarter_as_fast_and_ends_somewhere() {
        let slower = pressed(Head::default(), &["-"]);
        assert_eq!(slower.second(&times()).0 * 4.0, Head::default().second(&times()).0);
        let slowest = (0..100).fold(slower, |head, _| head.moved(Move::Slower, &times()));
        assert_eq!(slowest.speed, SPEEDS[0]);
        let fastest = (0..100).fold(slower, |head, _| head.moved(Move::Faster, &times()));
        assert_eq!(fastest.speed, SPEEDS[1]);
    }

    #[test]
    fn two_films_share_a_clock() {
        let other = Times { tasks_us: vec![0.0, 5.0], end_us: 50.0 };
        let joined = times().joined(&other);
        assert_eq!(joined.tasks_us, [0.0, 5.0, 10.0, 30.0]);
        assert_eq!(joined.end_us, 50.0);
    }
}
