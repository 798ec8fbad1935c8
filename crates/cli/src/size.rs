//! Sizes and times on the command line and in reports.

use std::time::Duration;

pub use parallax_project::quantity::{parse_bytes, parse_seconds, parse_time};

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
        assert_eq!(show_bytes(1536 << 20), "1.5 GiB");
        assert_eq!(show_bytes(64), "64 bytes");
    }

    #[test]
    fn counts_read_well() {
        assert_eq!(show_count(1_234_567), "1,234,567");
        assert_eq!(show_count(123), "123");
        assert_eq!(counted(1, "node"), "1 node");
        assert_eq!(counted(2, "branch/branches"), "2 branches");
    }
}
