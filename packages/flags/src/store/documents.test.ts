import { gunzipSync } from 'node:zlib';
import { createFlagDocumentCache } from './documents.ts';
import { createFlagFixture, type FlagFixture } from './testing/flag-fixture.ts';

let fixture: FlagFixture;
beforeAll(async () => {
  fixture = await createFlagFixture();
});
afterAll(() => fixture.stop());

async function read(environmentId: number) {
  const documents = createFlagDocumentCache({
    sql: fixture.database.sql,
    changes: { subscribe: () => {}, isSubscribed: () => true },
    maxBytes: 1_000_000,
    onLookup: () => {},
  });
  const { etag, gzipped } = await documents.get(environmentId);
  return { etag, document: JSON.parse(gunzipSync(gzipped).toString('utf8')) };
}

const condition = (...properties: object[]) => ({ groups: [{ properties }] });
const onFlag = (key: unknown) => ({ key: String(key), type: 'flag', operator: 'flag_evaluates_to', value: true });
const onCohort = (value: unknown) => ({ key: 'id', type: 'cohort', value });

test('includes active and inactive flags sorted by key, but no flags of surveys or with encrypted payloads', async () => {
  const id = await fixture.createEnvironment();
  await fixture.addFlag(id, 'b', { name: 'What it is for', evaluation_contexts: ['web'], version: 3 });
  await fixture.addFlag(id, 'a', { active: false, filters: {}, rollout_percentage: 40 });
  await fixture.addFlag(id, 'gone', { deleted: true });
  await fixture.addFlag(id, 'secret', { has_encrypted_payloads: true });
  await fixture.addFlag(id, 'survey-targeting-1');
  const { document } = await read(id);
  expect(document).toEqual({
    flags: [
      expect.objectContaining({
        key: 'a',
        active: false,
        filters: { groups: [{ properties: [], rollout_percentage: 40 }] },
      }),
      {
        id: expect.any(Number),
        team_id: id,
        name: 'What it is for',
        key: 'b',
        filters: { groups: [{}] },
        deleted: false,
        active: true,
        ensure_experience_continuity: false,
        has_encrypted_payloads: false,
        version: 3,
        evaluation_runtime: 'all',
        bucketing_identifier: 'distinct_id',
        evaluation_contexts: ['web'],
        evaluation_tags: ['web'],
        has_experiment: false,
      },
    ],
    group_type_mapping: {},
    cohorts: {},
    minimal_flag_called_events: false,
    property_matching_version: 1,
  });
});

test('identifies dependencies by key, with an evaluation chain that is empty for cycles and missing flags', async () => {
  const id = await fixture.createEnvironment();
  const base = await fixture.addFlag(id, 'base');
  const middle = await fixture.addFlag(id, 'middle', { filters: condition(onFlag(base)) });
  await fixture.addFlag(id, 'top', { filters: condition(onFlag(middle), onFlag(base)) });
  await fixture.addFlag(id, 'lost', { filters: condition(onFlag(999_999)) });
  const round = await fixture.addFlag(id, 'round');
  await fixture.database.sql.query('UPDATE feature_flag SET filters = $2 WHERE id = $1', [
    round,
    JSON.stringify(condition(onFlag(round))),
  ]);
  const { document } = await read(id);
  const chains = Object.fromEntries(
    document.flags.map((flag: { key: string; filters: { groups: { properties?: object[] }[] } }) => [
      flag.key,
      flag.filters.groups[0]?.properties ?? [],
    ]),
  );
  const on = (key: string, chain: string[]) => ({ ...onFlag(key), dependency_chain: chain });
  expect(chains).toEqual({
    base: [],
    middle: [on('base', ['base'])],
    top: [on('middle', ['base', 'middle']), on('base', ['base'])],
    lost: [on('999999', [])],
    round: [on('round', [])],
  });
});

test('includes the dynamic cohorts that flags use directly or indirectly, but no static cohorts', async () => {
  const id = await fixture.createEnvironment();
  const leaf = { type: 'AND', values: [{ type: 'person', key: 'plan', operator: 'exact', value: 'pro' }] };
  const inner = await fixture.addCohort(id, { filters: { properties: leaf } });
  const fixed = await fixture.addCohort(id, { is_static: true });
  const tree = { type: 'OR', values: [onCohort(inner), { type: 'AND', values: [onCohort(fixed)] }] };
  const outer = await fixture.addCohort(id, { filters: { properties: tree } });
  await fixture.addCohort(id, { filters: { properties: leaf } });
  await fixture.addFlag(id, 'member', { filters: condition(onCohort(String(outer))) });
  expect((await read(id)).document.cohorts).toEqual({ [inner]: leaf, [outer]: tree });
});

test('flag-078: the ETag stays the same for the same definitions, and changes when a flag is deactivated', async () => {
  const id = await fixture.createEnvironment();
  const flag = await fixture.addFlag(id, 'a');
  const [first, second] = await Promise.all([read(id), read(id)]);
  expect(second.etag).toBe(first.etag);
  await fixture.database.sql.query('UPDATE feature_flag SET active = false WHERE id = $1', [flag]);
  const off = await read(id);
  expect(off.etag).not.toBe(first.etag);
  expect(off.document.flags).toMatchObject([{ key: 'a', active: false }]);
});
