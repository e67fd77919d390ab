//! What is uploaded, read by hand: RFC 1952 and another inflate than the one that wrote it.

use std::sync::Arc;

use bench_harness::decision_log::settings::Settings;
use bench_harness::decision_log::{Buffer, Logger, Shared};
use bench_harness::engine::EngineKind;
use bench_harness::filter::{Authorize as _, Filter};
use bench_harness::scenario::{BuiltIn, Scenario};
use serde_json::{Value, json};

/// The only member of a gzip file, by hand.
fn gunzip(bytes: &[u8]) -> Vec<u8> {
    assert_eq!(bytes[..3], [0x1f, 0x8b, 8], "gzip, deflate");
    assert_eq!(bytes[3], 0, "no name, no comment, no extra field");
    let (deflated, trailer) = bytes[10..].split_at(bytes.len() - 18);
    let text = miniz_oxide::inflate::decompress_to_vec(deflated).expect("deflate data");
    let number = |at: usize| u32::from_le_bytes(trailer[at..at + 4].try_into().expect("4 bytes"));
    assert_eq!(number(0), crc32(&text), "checksum");
    assert_eq!(number(4) as usize, text.len(), "length");
    text
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

/// The events of the chunks that the first requests of a scenario give.
fn events(scenario: BuiltIn, count: usize) -> (Scenario, Vec<Value>, usize) {
    let scenario = Scenario::built_in(scenario, 5).expect("a scenario");
    let settings = Settings::parse("upload_size_limit_bytes=4096", false).expect("settings");
    let shared = Arc::new(Shared::new(settings));
    let logger = Logger::new(Arc::clone(&shared));
    let mut filter =
        Filter::new(EngineKind::Rvm, &scenario.policy, Some(logger), 1 << 20).expect("compiles");
    for request in &scenario.requests[..count] {
        filter.authorize(request).expect("a decision");
    }
    let Buffer::Size(buffer) = &shared.buffer else {
        panic!("the default is the size buffer")
    };
    let chunks = buffer.take(true).expect("chunks");
    let events = chunks
        .iter()
        .flat_map(|chunk| {
            assert!(chunk.bytes.len() <= 4096);
            let array: Vec<Value> = serde_json::from_slice(&gunzip(&chunk.bytes)).expect("JSON");
            assert_eq!(array.len() as u64, chunk.events);
            array
        })
        .collect();
    (scenario, events, chunks.len())
}

#[test]
fn chunks_are_gzip_members_that_hold_arrays_of_events() {
    let (scenario, events, chunks) = events(BuiltIn::Minimal, 200);
    assert!(chunks > 1);
    assert_eq!(events.len(), 200);
    for (event, request) in events.iter().zip(&scenario.requests) {
        let keys: Vec<&str> = event
            .as_object()
            .expect("an object")
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(
            keys,
            [
                "decision_id",
                "input",
                "labels",
                "metrics",
                "path",
                "result",
                "timestamp"
            ]
        );
        assert_eq!(event["decision_id"].as_str().map(str::len), Some(32));
        assert_eq!(event["path"], json!("envoy/authz/allow"));
        assert_eq!(event["result"], json!(true));
        let http = &event["input"]["attributes"]["request"]["http"];
        assert_eq!(http["path"], json!(request.path));
        assert_eq!(
            event["decision_id"],
            event["input"]["attributes"]["metadataContext"]["filterMetadata"]["open_policy_agent"]
                ["decision_id"]
        );
        let evaluation = event["metrics"]["timer_rego_query_eval_ns"].as_u64();
        assert!(evaluation > Some(0));
        assert!(event["metrics"]["timer_server_handler_ns"].as_u64() > evaluation);
        let timestamp = event["timestamp"].as_str().expect("a text");
        assert!(timestamp.parse::<jiff::Timestamp>().is_ok());
    }
}

#[test]
fn an_event_of_the_minimal_scenario_has_about_750_bytes() {
    let (_, events, _) = events(BuiltIn::Minimal, 1);
    let size = events[0].to_string().len();
    assert!((600..900).contains(&size), "{size}");
}

#[test]
fn bodies_and_tokens_are_logged_as_they_came() {
    let (scenario, events, _) = events(BuiltIn::WithBody, 10);
    let body = scenario.requests[0].body.as_deref().expect("a body");
    let body: Value = serde_json::from_slice(body).expect("JSON");
    assert_eq!(events[0]["input"]["parsed_body"], body);
    let (scenario, events, _) = self::events(BuiltIn::JwtValidation, 3);
    assert_eq!(
        events[0]["input"]["attributes"]["request"]["http"]["headers"]["authorization"],
        json!(scenario.requests[0].headers[0].1)
    );
}
