/**
 * Uses the client from openapi-generator, and prints the records as JSON. TypeScript checks this file against the
 * client's types.
 */
import {
  AnnotationsApi,
  CohortsApi,
  Configuration,
  EventsApi,
  FeatureFlagsApi,
  PersonsApi,
  ResponseError,
} from './client/index.js';

// biome-ignore lint/style/noProcessEnv: a separate program, whose key must not be visible in its arguments
const { API_URL = '', API_KEY = '', PROJECT_ID: projectId = '' } = process.env;
const configuration = new Configuration({ basePath: API_URL, accessToken: API_KEY });
const annotations = new AnnotationsApi(configuration);
const cohorts = new CohortsApi(configuration);
const events = new EventsApi(configuration);
const flags = new FeatureFlagsApi(configuration);
const persons = new PersonsApi(configuration);

/**
 * Reads a list with offsets until a page has fewer records than requested.
 * @template T
 * @param {number} limit
 * @param {(request: { projectId: string, limit: number, offset: number }) => Promise<{ results: T[] }>} listPage
 */
async function read(limit, listPage) {
  /** @type {T[]} */
  const records = [];
  for (;;) {
    const { results } = await listPage({ projectId, limit, offset: records.length });
    records.push(...results);
    if (results.length < limit) return records;
  }
}

const annotation = await annotations.annotationsCreate({
  projectId,
  annotationChanges: { content: 'Generated', scope: 'project' },
});
const cohort = await cohorts.cohortsCreate({
  projectId,
  cohortChangesWithFile: { name: 'Generated', isStatic: true },
});
const missing = await annotations.annotationsRetrieve({ projectId, id: 2_147_483_647 }).then(
  ({ id }) => id,
  (error) => {
    if (error instanceof ResponseError) return error.response.status;
    throw error;
  },
);
const result = {
  events: (await read(1000, (page) => events.eventsList(page))).map(({ uuid }) => uuid),
  persons: (await read(100, (page) => persons.personsList(page))).map(({ id }) => id),
  flags: (await read(100, (page) => flags.featureFlagsList(page))).map(({ key }) => key),
  annotations: (await read(100, (page) => annotations.annotationsList(page))).map(({ id }) => id),
  cohorts: (await read(100, (page) => cohorts.cohortsList(page))).map(({ id }) => id),
  created: {
    annotation: (await annotations.annotationsRetrieve({ projectId, id: annotation.id })).content,
    cohort: (await cohorts.cohortsRetrieve({ projectId, id: cohort.id })).name,
  },
  ids: { annotation: annotation.id, cohort: cohort.id },
  missing,
};
process.stdout.write(JSON.stringify(result));
