//! Makes one call of the SDK matrix (../scenario.ts) with the Rust SDK, or evaluates flags. Writes SDK errors to stderr.

mod flags;

use std::env;
use std::error::Error;

use chrono::{TimeZone, Utc};
use posthog_rs::{client, ClientOptionsBuilder, Event};
use serde_json::{json, Value};

fn event(name: &str, distinct_id: &str, properties: &[(&str, Value)]) -> Result<Event, posthog_rs::Error> {
    let mut event = Event::new(name, distinct_id);
    for (key, value) in properties {
        event.insert_prop(*key, value)?;
    }
    Ok(event)
}

fn main() -> Result<(), Box<dyn Error>> {
    let client = client(
        ClientOptionsBuilder::default()
            .api_key(env::var("PROJECT_API_KEY")?)
            .host(env::var("INGEST_URL")?)
            // The timeout is long, so that requests do not time out on a busy machine and are not sent again.
            .request_timeout_seconds(90u64)
            .feature_flags_request_timeout_seconds(90u64)
            .on_error(|error| eprintln!("on_error: {error:?}"))
            .build()?,
    );
    match env::args().nth(1).as_deref() {
        Some("capture") => client.capture(event(
            "order placed",
            "buyer",
            &[
                ("total", json!(42)),
                ("currency", json!("EUR")),
                ("nested", json!({"list": [1, "zwei", null, true]})),
                ("text", json!("Grüße 👋")),
            ],
        )?),
        // The SDK does not have an identify call.
        Some("identify") => client.capture(event(
            "$set",
            "ada",
            &[("$set", json!({"email": "ada@example.com", "plan": "pro"}))],
        )?),
        Some("alias") => {
            client.capture(event("seen before", "old-id", &[("$set", json!({"kept": 1}))])?);
            client.alias("old-id", "main-id");
        }
        Some("group identify") => {
            client.group_identify("company", "acme", json!({"name": "Acme", "seats": 5}))?;
            let mut used = event("seat used", "worker", &[])?;
            used.add_group("company", "acme");
            client.capture(used);
        }
        Some("batch") => {
            let ticks: Result<Vec<_>, _> = (0..50)
                .map(|n| event("tick", &format!("ticker-{}", n % 3), &[("n", json!(n))]))
                .collect();
            client.capture_batch(ticks?, false);
        }
        Some("historical migration") => {
            let mut events = Vec::new();
            for n in 0..12 {
                let properties = [("n", json!(n)), ("$set", json!({"last_import": n}))];
                let mut imported = event("imported", "veteran", &properties)?;
                imported.set_timestamp(Utc.with_ymd_and_hms(2016, n + 1, 1, 0, 0, 0).unwrap())?;
                events.push(imported);
            }
            client.capture_batch(events, true);
        }
        Some("flags") => flags::evaluate_flags(&client)?,
        other => return Err(format!("no such call: {other:?}").into()),
    }
    client.shutdown();
    Ok(())
}
