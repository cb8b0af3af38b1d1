"""Uses the client from openapi-generator, and prints the records as JSON."""

import json
import os

from openapi_client import (
    AnnotationChanges,
    AnnotationsApi,
    ApiClient,
    CohortChangesWithFile,
    CohortsApi,
    Configuration,
    EventsApi,
    FeatureFlagsApi,
    PersonsApi,
)
from openapi_client.exceptions import NotFoundException

project = os.environ["PROJECT_ID"]
client = ApiClient(Configuration(host=os.environ["API_URL"], access_token=os.environ["API_KEY"]))
annotations, cohorts = AnnotationsApi(client), CohortsApi(client)


def read(list_page, limit):
    """Reads a list with offsets until a page has fewer records than requested."""
    records = []
    while True:
        page = list_page(project, limit=limit, offset=len(records)).results
        records += page
        if len(page) < limit:
            return records


annotation = annotations.annotations_create(project, AnnotationChanges(content="Generated", scope="project"))
cohort = cohorts.cohorts_create(project, CohortChangesWithFile(name="Generated", is_static=True))
try:
    missing = annotations.annotations_retrieve(project, 2147483647).id
except NotFoundException as error:
    missing = error.status

print(
    json.dumps(
        {
            "events": [str(event.uuid) for event in read(EventsApi(client).events_list, 1000)],
            "persons": [person.id for person in read(PersonsApi(client).persons_list, 100)],
            "flags": [flag.key for flag in read(FeatureFlagsApi(client).feature_flags_list, 100)],
            "annotations": [one.id for one in read(annotations.annotations_list, 100)],
            "cohorts": [one.id for one in read(cohorts.cohorts_list, 100)],
            "created": {
                "annotation": annotations.annotations_retrieve(project, annotation.id).content,
                "cohort": cohorts.cohorts_retrieve(project, cohort.id).name,
            },
            "ids": {"annotation": annotation.id, "cohort": cohort.id},
            "missing": missing,
        }
    )
)
