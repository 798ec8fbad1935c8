//! The sites of one module: what a site id stands for.

use serde::{Deserialize, Serialize};

/// Meta of a sites record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SitesMeta {
    /// Hash of the table, by which counters in shared memory find it.
    pub module: u64,
}

/// All sites of one module, in program order. Its JSON form is what a module's identity is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteTable {
    /// Source files, as in the debug information (directory joined, not made absolute twice).
    pub files: Vec<String>,
    pub functions: Vec<FunctionSites>,
}

/// The sites of one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionSites {
    pub name: String,
    /// Index into [`SiteTable::files`].
    pub file: u32,
    pub line: u32,
    pub sites: Vec<Site>,
}

/// One site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// A `parallax_abi::SiteId`.
    pub id: u64,
    /// A `parallax_abi::SiteKind`.
    pub kind: u8,
    /// Index into [`SiteTable::files`]: differs from the function's for inlined code.
    pub file: u32,
    /// 0 if the compiler gave no line.
    pub line: u32,
    pub column: u32,
    /// Case values of a `switch`, in successor order (the default, 0, is not listed).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<u64>,
    /// Blocks: the first block site of each successor; branches: where each side leads
    /// (false side first).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub successors: Vec<u64>,
    /// Copies that were inlined before tracing: the id of the site that this is a copy of;
    /// 0 for the site itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub original: u64,
    /// Copies that were inlined before tracing: the calls through which, outermost first. A call
    /// stack at this site continues with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<u64>,
    /// Name of the directly called function, or kind of instruction for `Other`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// [`Site`], [`FunctionSites`] and [`SiteTable`] without names of fields: what is written and read at every start.
type PackedSite = (
    u64,
    u8,
    u32,
    u32,
    u32,
    Vec<u64>,
    Vec<u64>,
    u64,
    Vec<u64>,
    String,
);
type PackedFunction = (String, u32, u32, Vec<PackedSite>);
type PackedTable = (Vec<String>, Vec<PackedFunction>);

impl SiteTable {
    /// The form in which a table is kept.
    pub fn into_bytes(self) -> Result<Vec<u8>, postcard::Error> {
        let functions = self.functions.into_iter().map(FunctionSites::packed);
        let packed: PackedTable = (self.files, functions.collect());
        postcard::to_stdvec(&packed)
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<SiteTable, postcard::Error> {
        let (files, functions): PackedTable = postcard::from_bytes(bytes)?;
        let functions = functions.into_iter().map(FunctionSites::unpacked);
        Ok(SiteTable {
            files,
            functions: functions.collect(),
        })
    }
}

impl FunctionSites {
    fn packed(self) -> PackedFunction {
        let sites = self.sites.into_iter().map(Site::packed);
        (self.name, self.file, self.line, sites.collect())
    }

    fn unpacked((name, file, line, sites): PackedFunction) -> FunctionSites {
        FunctionSites {
            name,
            file,
            line,
            sites: sites.into_iter().map(Site::unpacked).collect(),
        }
    }
}

impl Site {
    fn packed(self) -> PackedSite {
        (
            self.id,
            self.kind,
            self.file,
            self.line,
            self.column,
            self.cases,
            self.successors,
            self.original,
            self.within,
            self.text,
        )
    }

    fn unpacked(packed: PackedSite) -> Site {
        let (id, kind, file, line, column, cases, successors, original, within, text) = packed;
        Site {
            id,
            kind,
            file,
            line,
            column,
            cases,
            successors,
            original,
            within,
            text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let site = Site {
            id: u64::MAX,
            kind: 3,
            file: 1,
            line: 70_000,
            column: 5,
            cases: vec![1, u64::MAX],
            successors: vec![7, 8, 9],
            original: 11,
            within: vec![12],
            text: "strcmp".into(),
        };
        let table = SiteTable {
            files: vec!["a.c".into(), "b.h".into()],
            functions: vec![FunctionSites {
                name: "main".into(),
                file: 0,
                line: 3,
                sites: vec![site],
            }],
        };
        let bytes = table.clone().into_bytes().unwrap();
        assert_eq!(SiteTable::from_bytes(&bytes).unwrap(), table);
        assert!(SiteTable::from_bytes(&bytes[..bytes.len() - 1]).is_err());
    }
}
