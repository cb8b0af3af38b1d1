"""Calls the management API with a client generated from its OpenAPI document. Prints the result of each call as JSON."""

import io
import json
import os

from millrace_client import AuthenticatedClient
from millrace_client.api.cohorts import cohorts_create
from millrace_client.api.environments import projects_environments_create, projects_environments_partial_update
from millrace_client.api.events import events_list
from millrace_client.api.feature_flags import feature_flags_create, feature_flags_list, feature_flags_partial_update
from millrace_client.api.projects import projects_list
from millrace_client.api.subscriptions import projects_subscriptions_create
from millrace_client.models import (
    CohortChangesWithFile,
    EnvironmentChanges,
    FeatureFlagChanges,
    FeatureFlagChangesFilters,
    FeatureFlagToCreate,
    SubscriptionToCreate,
)
from millrace_client.types import File

url, project = os.environ["API_URL"], os.environ["PROJECT_ID"]
client = AuthenticatedClient(base_url=url, token=os.environ["API_KEY"], timeout=120)


def say(name, response):
    parsed = response.parsed
    body = None if parsed is None else parsed.to_dict()
    print(json.dumps({"call": name, "status": response.status_code, "type": type(parsed).__name__, "body": body}))


def call(name, operation, *path, **given):
    response = operation.sync_detailed(*path, client=given.pop("client", client), **given)
    say(name, response)
    return response.parsed


call("projects", projects_list)
call("far behind the last project", projects_list, offset=5_000_000_000)

environment = call(
    "new environment",
    projects_environments_create,
    project,
    body=EnvironmentChanges(name="staging", test_account_filters=[{"key": "email", "value": "x"}], data_attributes=["data-x"]),
)
call(
    "time zone",
    projects_environments_partial_update,
    project,
    str(environment.id),
    body=EnvironmentChanges(timezone="Europe/Lisbon"),
)
call(
    "bad time zone",
    projects_environments_partial_update,
    project,
    str(environment.id),
    body=EnvironmentChanges(timezone="Mars/Olympus"),
)

flag = call("new flag", feature_flags_create, project, body=FeatureFlagToCreate(key="generated"))
call("bad flag", feature_flags_create, project, body=FeatureFlagToCreate(key="not a key"))
filters = FeatureFlagChangesFilters()
filters["groups"] = [{"properties": [], "rollout_percentage": 30}]
call("rollout", feature_flags_partial_update, project, flag.id, body=FeatureFlagChanges(filters=filters))
call("flags", feature_flags_list, project)

call("events", events_list, project)
call("oldest events", events_list, project, order_by='["timestamp"]')
call("bad order", events_list, project, order_by="color")
call("bad subscription", projects_subscriptions_create, project, body=SubscriptionToCreate.from_dict({
    "target_type": "email",
    "target_value": "unknown",
    "frequency": "daily",
    "start_date": "2026-11-02T00:00:00Z",
}))

members = File(payload=io.BytesIO(b"distinct_id\nsomebody\n"), file_name="members.csv", mime_type="text/csv")
call("cohort from a file", cohorts_create, project, body=CohortChangesWithFile(name="By file", is_static=True, csv=members))
call("cohort of nothing", cohorts_create, project)

stranger = AuthenticatedClient(base_url=url, token="phx_of_nobody", timeout=120)
call("wrong key", projects_list, client=stranger)
