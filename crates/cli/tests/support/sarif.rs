//! Checks SARIF files by the types that another library makes of the standard's schema.

use serde_json::Value;
use serde_sarif::sarif::Sarif;

/// A valid file whose places are relative and lie below the top of the source.
#[track_caller]
pub fn assert_valid(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    let read: Sarif = serde_json::from_value(log.clone()).unwrap();
    // What the standard does not know would be lost.
    assert_eq!(serde_json::to_value(&read).unwrap(), *log);
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
