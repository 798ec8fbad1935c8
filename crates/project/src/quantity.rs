//! Sizes and times as people write them: `512M`, `90s`, `5m`.

use std::time::Duration;

/// Parses `512M`, `2G`, `100k` or a number of bytes.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        unit => return Err(format!("unknown unit {unit:?}: use K, M, G or T")),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "expected a number with an optional unit, as in 512M".to_owned())?;
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| "too large".to_owned())
}

/// Parses seconds, with decimals.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix('s').unwrap_or(text);
    let seconds: f64 = number
        .parse()
        .map_err(|_| "expected seconds, as in 10 or 0.5".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|time| !time.is_zero())
        .ok_or_else(|| "expected a positive number of seconds".to_owned())
}

/// Parses seconds, or a number with a unit: `90`, `90s`, `5m`, `2h`.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let (digits, factor) = match text.as_bytes().last() {
        Some(b'm') => (&text[..text.len() - 1], 60),
        Some(b'h') => (&text[..text.len() - 1], 3600),
        _ => (text, 1),
    };
    parse_seconds(digits)
        .map_err(|_| "expected a positive time, as in 90s, 5m or 2h".to_owned())?
        .checked_mul(factor)
        .ok_or_else(|| "too long".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("512M"), Ok(512 << 20));
        assert_eq!(parse_bytes("2GiB"), Ok(2 << 30));
        assert!(parse_bytes("2 parsecs").is_err());
        assert!(parse_bytes("M").is_err());
        assert!(parse_bytes("99999999999T").is_err());
    }

    #[test]
    fn times_are_positive() {
        assert_eq!(parse_seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_seconds("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(parse_time("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_time("1h"), Ok(Duration::from_secs(3600)));
        for wrong in ["0", "-1", "NaN", "soon", "inf", "", "m"] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }
}
