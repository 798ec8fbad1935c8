//! What the text of a source file says about its lines: enough to tell why a line has no code.
//!
//! No parser: comments and literals are taken out, braces and preprocessor groups are counted.

/// One line, without comments and with empty literals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub code: String,
    /// Nothing but white space, comments not counted as such.
    pub is_blank: bool,
    /// A preprocessor directive, or a line that continues one.
    pub is_directive: bool,
    /// The macro whose definition this is part of.
    pub macro_name: Option<String>,
    /// Number of the innermost preprocessor group around it; 0 is none.
    pub group: usize,
    /// Number of the outermost pair of braces around it, if any.
    pub outermost: Option<usize>,
}

/// Something in braces that are in no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outermost {
    /// What comes before ends like the head of a function.
    pub is_function: bool,
    /// Numbers of its lines, from the one with the opening to the one with the closing brace.
    pub first: u32,
    pub last: u32,
}

/// The lines of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceText {
    lines: Vec<Line>,
    blocks: Vec<Outermost>,
}

impl SourceText {
    pub fn new(text: &str) -> SourceText {
        let mut source = SourceText {
            lines: strip(text),
            blocks: Vec::new(),
        };
        source.find_directives();
        source.find_braces();
        source
    }

    /// A line by its number, from 1.
    pub fn line(&self, number: u32) -> Option<&Line> {
        self.lines.get((number as usize).checked_sub(1)?)
    }

    /// Numbers and lines.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = (u32, &Line)> {
        let lines = self.lines.iter().enumerate();
        lines.map(|(index, line)| (index as u32 + 1, line))
    }

    pub fn outermost(&self, line: &Line) -> Option<&Outermost> {
        line.outermost.map(|block| &self.blocks[block])
    }

    /// The lines of the statement that a line is a part of: back to what ends the one before, on to its own end.
    pub fn statement(&self, number: u32) -> std::ops::RangeInclusive<u32> {
        let ends = |line: &Line| {
            line.is_directive || line.code.ends_with([';', '{', '}', ':']) && !line.code.is_empty()
        };
        let mut first = number;
        while let Some(line) = self.line(first - 1) {
            if ends(line) {
                break;
            }
            first -= 1;
        }
        let mut last = number;
        while let Some(line) = self.line(last) {
            if ends(line) || self.line(last + 1).is_none() {
                break;
            }
            last += 1;
        }
        first..=last
    }

    fn find_directives(&mut self) {
        let mut continued = false;
        let mut name: Option<String> = None;
        let mut groups = vec![0];
        let mut count = 0;
        for line in &mut self.lines {
            let text = line.code.trim_start();
            let begins = !continued && text.starts_with('#');
            line.is_directive = begins || continued;
            if begins {
                let words = text[1..].trim_start();
                let end = words
                    .find(|c: char| !c.is_ascii_alphabetic())
                    .unwrap_or(words.len());
                let (word, rest) = words.split_at(end);
                name = None;
                match word {
                    "if" | "ifdef" | "ifndef" => {
                        count += 1;
                        groups.push(count);
                    }
                    "else" | "elif" | "elifdef" | "elifndef" if groups.len() > 1 => {
                        count += 1;
                        groups.pop();
                        groups.push(count);
                    }
                    "endif" if groups.len() > 1 => {
                        groups.pop();
                    }
                    "define" => {
                        let rest = rest.trim_start();
                        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                        name = Some(rest[..end].to_owned());
                    }
                    _ => {}
                }
            }
            if line.is_directive {
                line.macro_name.clone_from(&name);
            }
            line.group = groups.last().copied().unwrap_or(0);
            continued = line.is_directive && line.code.ends_with('\\');
        }
    }

    fn find_braces(&mut self) {
        let mut depth = 0u32;
        // Both branches of a group may open the same brace.
        let mut saved: Vec<u32> = Vec::new();
        let mut before = String::new();
        for (number, line) in (1..).zip(&mut self.lines) {
            if line.is_directive {
                let text = line.code.trim_start_matches(['#', ' ', '\t']);
                if text.starts_with("if") {
                    saved.push(depth);
                } else if text.starts_with("el") {
                    depth = saved.last().copied().unwrap_or(depth);
                } else if text.starts_with("endif") {
                    saved.pop();
                }
                continue;
            }
            if depth > 0 {
                line.outermost = self.blocks.len().checked_sub(1);
            }
            for character in line.code.chars() {
                match character {
                    '{' => {
                        let head = before.trim_end();
                        if depth == 0 && !head.ends_with("extern \"\"") {
                            self.blocks.push(Outermost {
                                is_function: head.ends_with(')'),
                                first: number,
                                last: number,
                            });
                            line.outermost = Some(self.blocks.len() - 1);
                            depth = 1;
                        } else if depth > 0 {
                            depth += 1;
                        }
                    }
                    '}' => {
                        depth = depth.saturating_sub(1);
                        if depth == 0 {
                            before.clear();
                        }
                    }
                    ';' if depth == 0 => before.clear(),
                    character if depth == 0 => before.push(character),
                    _ => {}
                }
            }
            before.push(' ');
            if let Some(block) = line.outermost {
                self.blocks[block].last = number;
            }
        }
    }
}

pub(super) fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// Takes out comments and what is in literals, line by line.
fn strip(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut in_comment = false;
    for raw in text.lines() {
        let mut code = String::new();
        let mut characters = raw.chars().peekable();
        while let Some(character) = characters.next() {
            if in_comment {
                if character == '*' && characters.next_if_eq(&'/').is_some() {
                    in_comment = false;
                    code.push(' ');
                }
                continue;
            }
            match character {
                '/' if characters.peek() == Some(&'*') => {
                    characters.next();
                    in_comment = true;
                }
                '/' if characters.peek() == Some(&'/') => break,
                '"' | '\'' => {
                    code.push(character);
                    while let Some(inside) = characters.next() {
                        if inside == '\\' {
                            characters.next();
                        } else if inside == character {
                            break;
                        }
                    }
                    code.push(character);
                }
                character => code.push(character),
            }
        }
        lines.push(Line {
            code: code.trim().to_owned(),
            is_blank: raw.trim().is_empty(),
            ..Line::default()
        });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_taken_out() {
        let text = "a = \"/* no */ {\"; // {\n/* x\n { */ b;\nc = '\\'' + '{';\n";
        let code: Vec<String> = strip(text).into_iter().map(|line| line.code).collect();
        assert_eq!(code, ["a = \"\";", "", "b;", "c = '' + '';"]);
    }

    #[test]
    fn functions_are_told_from_tables_and_groups_from_each_other() {
        let text = "\
int t[] = {
  1,
};
#define TWICE(x) \\
  ((x) * 2)
int f(int x)
{
#if A
  if (x) {
#else
  if (!x) {
#endif
    x++;
  }
  return x;
}
";
        let source = SourceText::new(text);
        let kind = |number| {
            source
                .outermost(source.line(number).unwrap())
                .map(|b| b.is_function)
        };
        assert_eq!(kind(2), Some(false));
        assert_eq!(kind(6), None);
        assert_eq!(kind(13), Some(true));
        assert_eq!(source.blocks[1].last, 16);
        assert_eq!(source.line(5).unwrap().macro_name.as_deref(), Some("TWICE"));
        assert_ne!(
            source.line(9).unwrap().group,
            source.line(11).unwrap().group
        );
        assert_eq!(source.line(13).unwrap().group, 0);
    }

    #[test]
    fn a_statement_goes_from_end_to_end() {
        let source = SourceText::new("a();\nx = f(1,\n      2,\n      3);\nb();\n");
        assert_eq!(source.statement(3), 2..=4);
        assert_eq!(source.statement(5), 5..=5);
    }
}
