//! Sizes and times on the command line and in reports.

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

/// `1.2 GiB`.
pub fn show_bytes(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value.fract() == 0.0 {
        format!("{value} {}", units[unit])
    } else {
        format!("{value:.1} {}", units[unit])
    }
}

/// `12 ms` or `3.4 s`.
pub fn show_time(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

/// `12,345`.
pub fn show_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 node`, `2 nodes`; irregular plurals are given whole, as in `branch/branches`.
pub fn counted(count: u64, noun: &str) -> String {
    let number = show_count(count);
    match noun.split_once('/') {
        Some((one, _)) if count == 1 => format!("{number} {one}"),
        Some((_, many)) => format!("{number} {many}"),
        None if count == 1 => format!("{number} {noun}"),
        None => format!("{number} {noun}s"),
    }
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
        assert_eq!(show_bytes(1536 << 20), "1.5 GiB");
        assert_eq!(show_bytes(64), "64 bytes");
    }

    #[test]
    fn times_are_positive() {
        assert_eq!(parse_seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_seconds("10s"), Ok(Duration::from_secs(10)));
        for wrong in ["0", "-1", "NaN", "soon", "inf"] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts_read_well() {
        assert_eq!(show_count(1_234_567), "1,234,567");
        assert_eq!(show_count(123), "123");
        assert_eq!(counted(1, "node"), "1 node");
        assert_eq!(counted(2, "branch/branches"), "2 branches");
    }
}
