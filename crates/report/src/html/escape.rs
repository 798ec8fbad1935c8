//! Any text as text of a page: nothing in it is markup.

use crate::words::printable;

/// For elements and attributes in double quotes. What a terminal could not show is escaped, too.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in printable(text.as_bytes()).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // These turn around what stands beside them.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                safe.extend(character.escape_unicode());
            }
            _ => safe.push(character),
        }
    }
    safe
}

pub fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// Lines in a block of their own.
pub fn block(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
    format!("<pre>{}</pre>", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        assert_eq!(
            escaped("</pre><a href=\"x\" onclick='y'>&\u{1b}"),
            "&lt;/pre&gt;&lt;a href=&quot;x&quot; onclick=&#39;y&#39;&gt;&amp;\\u{1b}"
        );
        assert_eq!(escaped("a\u{202e}b"), "a\\u{202e}b");
    }
}
