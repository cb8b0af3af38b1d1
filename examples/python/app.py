"""Sends one order to Millrace, and prints which version of the checkout the user sees."""

import os

from posthog import Posthog

client = Posthog(os.environ["POSTHOG_KEY"], host=os.environ["POSTHOG_HOST"])
user = "ada"

client.set(distinct_id=user, properties={"name": "Ada", "plan": "pro"})

flags = client.evaluate_flags(user)
is_new = flags.is_enabled("new-checkout")
print("Checkout in one step" if is_new else "Checkout in three steps")

# With `flags`, the event records which version of the checkout the user saw.
client.capture(
    "order placed",
    distinct_id=user,
    properties={"total": 42, "currency": "EUR"},
    groups={"company": "corner-shop"},
    flags=flags,
)

# Send the events that are still in memory. Without this call, a short script would lose its last events.
client.shutdown()
