//! The little of XML that reports need: elements, attributes and text, escaped, with what XML cannot hold taken out.

use std::fmt::Write as _;

/// An element with either text or elements in it.
#[derive(Clone, Debug, Default)]
pub struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    text: Option<String>,
    children: Vec<Element>,
}

impl Element {
    pub fn new(name: &'static str) -> Element {
        Element {
            name,
            ..Element::default()
        }
    }

    /// With one more attribute.
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Element {
        self.attributes.push((name, value.to_string()));
        self
    }

    pub fn text(mut self, text: impl Into<String>) -> Element {
        self.text = Some(text.into());
        self
    }

    pub fn child(mut self, child: Element) -> Element {
        self.children.push(child);
        self
    }

    pub fn children(mut self, children: impl IntoIterator<Item = Element>) -> Element {
        self.children.extend(children);
        self
    }

    /// A whole document; `kind` is the line that says of which kind it is, if any.
    pub fn document(&self, kind: &str) -> String {
        let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
        text.push_str(kind);
        self.write(0, &mut text);
        text
    }

    fn write(&self, depth: usize, out: &mut String) {
        let (name, indent) = (self.name, depth * 2);
        let _ = write!(out, "{:indent$}<{name}", "");
        for (name, value) in &self.attributes {
            let _ = write!(out, " {name}=\"{}\"", escape(value, true));
        }
        match &self.text {
            Some(text) => {
                let _ = writeln!(out, ">{}</{name}>", escape(text, false));
            }
            None if self.children.is_empty() => out.push_str("/>\n"),
            None => {
                out.push_str(">\n");
                for child in &self.children {
                    child.write(depth + 1, out);
                }
                let _ = writeln!(out, "{:indent$}</{name}>", "");
            }
        }
    }
}

/// What would mean something else; in attributes also line ends, which would become blanks.
fn escape(text: &str, in_attribute: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' if in_attribute => escaped.push_str("&quot;"),
            '\r' => escaped.push_str("&#13;"),
            '\n' if in_attribute => escaped.push_str("&#10;"),
            '\t' if in_attribute => escaped.push_str("&#9;"),
            '\n' | '\t' => escaped.push(character),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_but_what_xml_cannot_hold() {
        let hostile = "a<b>&\"'\n\t\r]]> é \u{10348}";
        let element = Element::new("x")
            .with("a", hostile)
            .child(Element::new("y").text(format!("{hostile}\0\u{1b}\u{ffff}")))
            .child(Element::new("z"));
        let text = element.document("");
        let document = roxmltree::Document::parse(&text).unwrap();
        let root = document.root_element();
        assert_eq!(root.attribute("a"), Some(hostile));
        let inside: Vec<_> = root.children().filter(|node| node.is_element()).collect();
        assert_eq!(
            inside[0].text(),
            Some(format!("{hostile}\u{fffd}\u{fffd}\u{fffd}").as_str())
        );
        assert_eq!(inside[1].tag_name().name(), "z");
    }
}
