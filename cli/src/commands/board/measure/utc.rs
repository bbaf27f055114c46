//! Days and times.

const SECONDS_A_DAY: u64 = 86_400;
/// Days of 400 years of the Gregorian calendar.
const DAYS_AN_ERA: u64 = 146_097;

/// Day and time, UTC, of seconds since 1970, as ISO 8601 writes them.
pub fn iso_8601(seconds: u64) -> String {
    let (days, time) = (seconds / SECONDS_A_DAY, seconds % SECONDS_A_DAY);
    // Years begin in March, so that the day that some years lack is their last.
    let days = days + 719_468;
    let (era, day) = (days / DAYS_AN_ERA, days % DAYS_AN_ERA);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + next;
    let (hours, minutes, seconds) = (time / 3600, time / 60 % 60, time % 60);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_that_date_says() {
        // `date -u -d @SECONDS +%FT%TZ`
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(iso_8601(seconds), text);
        }
    }
}
