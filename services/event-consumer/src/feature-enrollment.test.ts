import { randomUUID } from 'node:crypto';
import type { CapturedEvent } from '@millrace/contracts';
import { evaluateFlags, findNeededData, selectFlags, toFlagValue } from '@millrace/flags';
import { compileDefinitions, loadDefinitions, loadStoredData } from '@millrace/flags/store';
import { processBatch } from './process-batch.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  logBatch,
  type TestProject,
} from './testing/consumer-fixture.ts';

/** Tests that a person who opts in to a feature gets its flag. The event only needs to contain a `$set`. */
let fixture: ConsumerFixture;
let project: TestProject;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  project = await fixture.createProject();
});

const topic = randomUUID();
let offset = 0;
async function consume(event: Partial<CapturedEvent>): Promise<void> {
  const batch = logBatch(topic, offset, [capturedEvent(project.token, event)]);
  offset += 1;
  await processBatch({ batch, group: 'g', deadLetterReason: null, lockFirst: false }, fixture.createDeps());
}
const enrol = (distinctId: string, isEnrolled: boolean) =>
  consume({
    distinct_id: distinctId,
    event: '$feature_enrollment_update',
    properties: {
      $feature_flag: 'beta',
      $feature_enrollment: isEnrolled,
      $set: { '$feature_enrollment/beta': isEnrolled },
    },
  });

async function flagFor(distinctId: string): Promise<unknown> {
  const { sql } = fixture.database;
  const environmentId = project.id;
  const definitions = await loadDefinitions(sql, environmentId);
  if (definitions === null) throw new Error('There is no such environment.');
  const flags = await compileDefinitions(definitions);
  const selected = selectFlags(flags, {});
  const request = { distinctId, groups: {}, personProperties: {}, groupProperties: {} };
  const needed = findNeededData(flags, selected, request);
  const stored = await loadStoredData(sql, {
    ...{ ...request, environmentId, flags, needed },
    onFailure(error) {
      throw error;
    },
  });
  const [result] = evaluateFlags(flags, selected, { ...request, stored, now: Date.now() }).results;
  return result && [toFlagValue(result), result.reason.code];
}

test.each<[string, object]>([
  ['feature_enrollment', { feature_enrollment: true }],
  [
    'super_groups',
    {
      super_groups: [
        {
          properties: [{ key: '$feature_enrollment/beta', type: 'person', operator: 'exact', value: ['true'] }],
          rollout_percentage: 100,
        },
      ],
    },
  ],
])('a person can opt in to and out of a feature whose condition is in %s', async (_name, enrollment) => {
  const filters = { groups: [{ properties: [], rollout_percentage: 0 }], ...enrollment };
  await fixture.database.sql.query('INSERT INTO feature_flag (project_id, key, filters) VALUES ($1, $2, $3)', [
    project.id,
    'beta',
    filters,
  ]);
  expect(await flagFor('ada')).toEqual([false, 'out_of_rollout_bound']);
  await enrol('ada', true);
  expect(await flagFor('ada')).toEqual([true, 'super_condition_value']);
  expect(await flagFor('bob')).toEqual([false, 'out_of_rollout_bound']);
  await enrol('ada', false);
  expect(await flagFor('ada')).toEqual([false, 'super_condition_value']);
});
