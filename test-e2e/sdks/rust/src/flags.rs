//! Evaluates flags (../../../flags/program-flag-sdks.ts). Reads cases and writes results as lines of JSON.

use std::collections::HashMap;
use std::error::Error;
use std::io::{stdin, BufRead};
use std::sync::Mutex;
use std::thread;

use posthog_rs::{Client, FlagValue};
use serde_json::{from_str, from_value, json, Value};

pub fn evaluate_flags(client: &Client) -> Result<(), Box<dyn Error>> {
    let lines = stdin().lock().lines().collect::<Result<Vec<String>, _>>()?;
    let waiting = Mutex::new(lines.into_iter());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| loop {
                let Some(line) = waiting.lock().unwrap().next() else { return };
                match evaluate(client, &line) {
                    Ok(result) => println!("{result}"),
                    Err(error) => eprintln!("{error}"),
                }
            });
        }
    });
    Ok(())
}

// Only this call returns the value and payload without sending an event.
#[allow(deprecated)]
fn evaluate(client: &Client, line: &str) -> Result<Value, Box<dyn Error>> {
    let case: Value = from_str(line)?;
    let key = case["key"].as_str().unwrap_or_default();
    let (values, payloads) = client.get_feature_flags(
        case["distinct_id"].as_str().unwrap_or_default(),
        Some(groups_of(&case["groups"])),
        Some(from_value(case["person_properties"].clone())?),
        Some(from_value(case["group_properties"].clone())?),
    )?;
    let value = match values.get(key) {
        Some(FlagValue::Boolean(is_on)) => json!(is_on),
        Some(FlagValue::String(variant)) => json!(variant),
        None => Value::Null,
    };
    Ok(json!({ "number": case["number"], "value": value, "payload": payloads.get(key) }))
}

/// Converts group keys to strings, because the SDK accepts only strings.
fn groups_of(sent: &Value) -> HashMap<String, String> {
    sent.as_object()
        .into_iter()
        .flatten()
        .map(|(kind, key)| (kind.clone(), key.as_str().map_or_else(|| key.to_string(), str::to_string)))
        .collect()
}
