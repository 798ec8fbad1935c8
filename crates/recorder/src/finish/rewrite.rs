//! Replaces the directory in which something was recorded by the one in which it will run.

/// Replaces a path wherever it stands alone or begins a longer one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewriter {
    from: Vec<u8>,
    to: Vec<u8>,
    /// Paths below that stay as they are.
    kept: Vec<Vec<u8>>,
}

impl Rewriter {
    pub fn new(from: &[u8], to: &[u8]) -> Rewriter {
        Rewriter {
            from: from.to_vec(),
            to: to.to_vec(),
            kept: Vec::new(),
        }
    }

    /// Leaves these paths, and what is below them, as they are.
    pub fn keeping(mut self, paths: Vec<Vec<u8>>) -> Rewriter {
        self.kept = paths;
        self
    }

    /// Whether there is anything to replace.
    pub fn concerns(&self, text: &[u8]) -> bool {
        self.next(text, 0).is_some()
    }

    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        let mut result = Vec::with_capacity(text.len());
        let mut done = 0;
        while let Some(at) = self.next(text, done) {
            result.extend_from_slice(&text[done..at]);
            result.extend_from_slice(&self.to);
            done = at + self.from.len();
        }
        result.extend_from_slice(&text[done..]);
        result
    }

    /// The next place from `start` on where the path stands as a whole.
    fn next(&self, text: &[u8], start: usize) -> Option<usize> {
        // The root directory is in every path, and means nothing.
        if self.from.len() < 2 {
            return None;
        }
        let mut at = start;
        while at + self.from.len() <= text.len() {
            let slash = text[at..].iter().position(|byte| *byte == b'/')?;
            at += slash;
            let begins = |path: &Vec<u8>| {
                let end = at + path.len();
                text[at..].starts_with(path) && !text.get(end).copied().is_some_and(is_name)
            };
            let is_inside = at > 0 && is_name(text[at - 1]);
            if begins(&self.from) && !is_inside && !self.kept.iter().any(begins) {
                return Some(at);
            }
            at += 1;
        }
        None
    }
}

/// Whether a byte continues the name of a file.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_replaced_only_as_a_whole() {
        let rewriter = Rewriter::new(b"/home/me/t.1", b"/work");
        let apply = |text: &str| String::from_utf8(rewriter.apply(text.as_bytes())).unwrap();
        assert_eq!(apply("/home/me/t.1"), "/work");
        assert_eq!(apply("-I/home/me/t.1/x"), "-I/home/me/t.1/x");
        assert_eq!(
            apply("--x=/home/me/t.1/x:/home/me/t.1"),
            "--x=/work/x:/work"
        );
        assert_eq!(apply("'/home/me/t.1': no"), "'/work': no");
        assert_eq!(apply("/home/me/t.12/x"), "/home/me/t.12/x");
        assert_eq!(apply("/mnt/home/me/t.1"), "/mnt/home/me/t.1");
        assert!(!rewriter.concerns(b"/home/me"));
    }

    #[test]
    fn paths_of_binaries_stay_where_the_binaries_are() {
        let rewriter = Rewriter::new(b"/p", b"/work").keeping(vec![b"/p/.libs".to_vec()]);
        let apply = |text: &str| String::from_utf8(rewriter.apply(text.as_bytes())).unwrap();
        assert_eq!(
            apply("/p/a:/p/.libs/m.so:/p/.libs"),
            "/work/a:/p/.libs/m.so:/p/.libs"
        );
        assert_eq!(apply("/p/.libsx"), "/work/.libsx");
    }
}
