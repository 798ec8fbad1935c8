//! Checks SARIF files against the schema of the standard.

use serde_json::Value;

use super::schema::Schema;

/// As OASIS publishes it.
const SCHEMA: &str = include_str!("../schema/sarif-2.1.0.json");

/// A valid file whose places are relative and lie below the top of the source.
#[track_caller]
pub fn assert_valid(log: &Value) {
    Schema::of_text(SCHEMA).assert_valid(log);
    for run in log["runs"].as_array().unwrap() {
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        for result in run["results"].as_array().unwrap() {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(rules[index]["id"], result["ruleId"]);
            let fingerprints = result["partialFingerprints"].as_object().unwrap();
            assert!(!fingerprints.is_empty());
            for location in result["locations"].as_array().unwrap() {
                let artifact = &location["physicalLocation"]["artifactLocation"];
                let uri = artifact["uri"].as_str().unwrap();
                assert!(!uri.starts_with(['/', '.']), "{uri}");
            }
        }
    }
}
