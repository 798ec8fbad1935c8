//! Dates in the forms that programs print, as seconds since 1970.

/// Names as in `ctime` and HTTP.
pub(super) const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// A moment as it was printed: parts may be missing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Printed {
    pub year: Option<i64>,
    /// 1 to 12.
    pub month: i64,
    pub day: i64,
    /// Seconds of the day.
    pub time: Option<i64>,
}

pub(super) const DAY: i64 = 24 * 60 * 60;

impl Printed {
    /// First and last second that this can mean; a missing year is that of `near`, or the one before or after.
    pub fn range(&self, near: i64) -> (i64, i64) {
        let midnight = |year| days(year, self.month, self.day) * DAY;
        let start = match self.year {
            Some(year) => midnight(year),
            None => {
                let guess = 1970 + near.div_euclid(DAY * 1461 / 4);
                let candidates = (guess - 1..=guess + 1).map(midnight);
                candidates
                    .min_by_key(|start| (start - near).abs())
                    .unwrap_or(0)
            }
        };
        match self.time {
            Some(time) => (start + time, start + time),
            None => (start, start + DAY - 1),
        }
    }
}

/// Days since 1970 of a date of the Gregorian calendar. Years begin in March here, so that the leap day is the last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let in_era = year.rem_euclid(400);
    let in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    const DAYS_TO_1970: i64 = 719_468;
    era * 146_097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - DAYS_TO_1970
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2000, 3, 1), 11_017);
        assert_eq!(days(2026, 11, 15), 20_772);
        assert_eq!(days(1969, 12, 31), -1);
    }

    #[test]
    fn a_missing_year_is_the_nearest() {
        let december = Printed {
            month: 12,
            day: 31,
            ..Printed::default()
        };
        let new_year = days(2027, 1, 1) * DAY;
        assert_eq!(december.range(new_year).1, new_year - 1);
    }
}
