"""Makes one call of the SDK matrix (../scenario.ts) with the Python SDK, or evaluates flags. Writes SDK
errors to stderr."""

import logging
import os
import sys
from datetime import datetime, timezone

from flags import evaluate_flags
from posthog import Posthog

logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
call = sys.argv[1]
definitions_key = os.environ.get("DEFINITIONS_KEY")
client = Posthog(
    os.environ["PROJECT_API_KEY"],
    secret_key=definitions_key,
    host=os.environ["INGEST_URL"],
    historical_migration=call == "historical migration",
    # The timeout is long, so that requests do not time out on a busy machine and are not sent again.
    timeout=90,
    feature_flags_request_timeout_seconds=90,
    on_error=lambda error, batch: print(f"on_error: {error}", file=sys.stderr),
)


def capture():
    client.capture(
        "order placed",
        distinct_id="buyer",
        properties={"total": 42, "currency": "EUR", "nested": {"list": [1, "zwei", None, True]}, "text": "Grüße 👋"},
    )


def identify():
    client.set(distinct_id="ada", properties={"email": "ada@example.com", "plan": "pro"})


def alias():
    client.capture("seen before", distinct_id="old-id", properties={"$set": {"kept": 1}})
    client.alias("old-id", "main-id")


def group_identify():
    client.group_identify("company", "acme", {"name": "Acme", "seats": 5})
    client.capture("seat used", distinct_id="worker", groups={"company": "acme"})


def batch():
    for n in range(50):
        client.capture("tick", distinct_id=f"ticker-{n % 3}", properties={"n": n})


def historical_migration():
    for n in range(12):
        client.capture(
            "imported",
            distinct_id="veteran",
            timestamp=datetime(2016, n + 1, 1, tzinfo=timezone.utc),
            properties={"n": n, "$set": {"last_import": n}},
        )


calls = {
    "capture": capture,
    "identify": identify,
    "alias": alias,
    "group identify": group_identify,
    "batch": batch,
    "historical migration": historical_migration,
    "flags": lambda: evaluate_flags(client, is_local=definitions_key is not None),
}
calls[call]()
client.shutdown()
