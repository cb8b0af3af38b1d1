// Measures how long the delivery worker takes to count a cohort's persons.

import { type Bench, programs } from '../harness/bench.ts';
import type { Send, Sent } from './api-requests.ts';

const pollMs = 250;
const filters = {
  type: 'AND',
  values: [{ type: 'AND', values: [{ type: 'person', key: 'plan', operator: 'exact', value: ['pro'] }] }],
};

/**
 * Creates a cohort of a third of all persons, and waits until the worker has counted them. Then deletes the cohort,
 * because the worker would count it again.
 * @returns the response, with the time that the count took
 */
export async function measureCohort(bench: Bench, send: Send, settings: Record<string, string>): Promise<Sent> {
  const worker = await bench.start(programs.deliveryWorker, settings);
  try {
    const startedAt = performance.now();
    const body = { name: 'Paying customers', filters: { properties: filters } };
    let cohort = await send({ name: 'new cohort', path: 'cohorts/', body });
    const path = `cohorts/${JSON.parse(cohort.body).id}/`;
    while (cohort.status < 300 && JSON.parse(cohort.body).is_calculating === true) {
      await new Promise((resolve) => setTimeout(resolve, pollMs));
      cohort = await send({ name: 'cohort', path });
    }
    return { ...cohort, ms: performance.now() - startedAt };
  } finally {
    await worker.stop();
    await bench.database.query('DELETE FROM cohort WHERE project_id = $1', [bench.database.projectId]);
  }
}
