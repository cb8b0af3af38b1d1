import type { Sql } from '@millrace/db/sql';
import { type EvaluationContext, nothingStored } from '../evaluate/context.ts';
import { evaluateFlags } from '../evaluate/evaluate-flags.ts';
import { toFlagValue } from '../evaluate/flag-result.ts';
import { findNeededData } from '../evaluate/needed-data.ts';
import { selectFlags } from '../evaluate/select-flags.ts';
import { compileDefinitions, loadDefinitions } from './definitions.ts';
import { loadStoredData } from './request-data.ts';
import { createFlagFixture, type FlagFixture } from './testing/flag-fixture.ts';

let fixture: FlagFixture;
beforeAll(async () => {
  fixture = await createFlagFixture();
});
afterAll(() => fixture.stop());

type Request = Partial<Omit<EvaluationContext, 'stored' | 'now'>>;

async function loadAndEvaluate(
  environmentId: number,
  request: Request,
  { fails = (_text: string): boolean => false } = {},
) {
  const { sql } = fixture.database;
  const definitions = await loadDefinitions(sql, environmentId);
  if (definitions === null) throw new Error('There is no such environment.');
  const flags = await compileDefinitions(definitions);
  const selected = selectFlags(flags, {});
  const context = { distinctId: 'unknown', groups: {}, personProperties: {}, groupProperties: {}, ...request };
  const queries: string[] = [];
  const counted: Sql = {
    query(text, values) {
      queries.push(text);
      return fails(text) ? Promise.reject(new Error('away')) : sql.query(text, values);
    },
  };
  const stored = await loadStoredData(counted, {
    ...context,
    environmentId,
    flags,
    needed: findNeededData(flags, selected, context),
    onFailure: () => {},
  });
  const { results } = evaluateFlags(flags, selected, { ...context, stored, now: Date.now() });
  const values = Object.fromEntries(results.map((r) => [r.key, r.failure ?? toFlagValue(r)]));
  return { stored, values, queryCount: queries.length };
}

const person = (key: string, value: unknown) => [{ key, type: 'person', operator: 'exact', value }];

test('reads person properties, group properties and memberships with one query each, but only those that are needed', async () => {
  const id = await fixture.createEnvironment();
  const { sql } = fixture.database;
  const uuid = await fixture.addPerson(id, ['ann', 'ann@home'], { plan: 'pro' });
  await sql.query(
    `INSERT INTO "group" (project_id, group_type_index, group_key, group_properties, created_at)
     VALUES ($1, 0, 'acme', '{"size": 5}', now()), ($1, 1, 'p', '{"state": "open"}', now())`,
    [id],
  );
  await sql.query(`INSERT INTO group_type_mapping VALUES ($1, 'company', 0, now()), ($1, 'project', 1, now())`, [id]);
  const cohorts = await Promise.all([1, 2].map(() => fixture.addCohort(id, { is_static: true })));
  await sql.query('INSERT INTO cohort_member (project_id, cohort_id, person_uuid) VALUES ($1, $2, $3)', [
    id,
    cohorts[0],
    uuid,
  ]);

  expect(await loadAndEvaluate(id, { distinctId: 'ann' })).toMatchObject({ stored: nothingStored, queryCount: 0 });
  await fixture.addFlag(id, 'plain');
  await fixture.addFlag(id, 'pro', { filters: { groups: [{ properties: person('plan', 'pro') }] } });
  expect(await loadAndEvaluate(id, { distinctId: 'ann@home' })).toMatchObject({
    values: { plain: true, pro: true },
    queryCount: 1,
  });
  const sent = { distinctId: 'ann', personProperties: { plan: 'free' } };
  expect(await loadAndEvaluate(id, sent)).toMatchObject({ values: { pro: false }, queryCount: 0 });
  expect(await loadAndEvaluate(id, { distinctId: 'unknown' })).toMatchObject({ values: { pro: false }, queryCount: 1 });

  const ofGroup = (index: number, key: string, value: unknown) => [
    { key, type: 'group', operator: 'exact', value, group_type_index: index },
  ];
  const groups = [
    { aggregation_group_type_index: 0, properties: [...ofGroup(0, 'size', '5'), ...ofGroup(1, 'state', 'open')] },
  ];
  await fixture.addFlag(id, 'sized', { filters: { groups } });
  for (const [index, cohort] of cohorts.entries()) {
    const properties = [{ key: 'id', type: 'cohort', value: cohort }];
    await fixture.addFlag(id, `member-${index}`, { filters: { groups: [{ properties }] } });
  }
  expect(await loadAndEvaluate(id, { distinctId: 'ann', groups: { company: 'acme', project: 'p' } })).toMatchObject({
    values: { plain: true, pro: true, sized: true, 'member-0': true, 'member-1': false },
    queryCount: 3,
  });
  const failing = { fails: (text: string) => text.includes('cohort_member') };
  expect(await loadAndEvaluate(id, { distinctId: 'ann' }, failing)).toMatchObject({
    values: { plain: true, pro: true, 'member-0': 'database_error' },
  });
});

test('if a person has many properties, reads only those that the flags use', async () => {
  const id = await fixture.createEnvironment();
  const others = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`other-${index}`, 'x'.repeat(50)]));
  await fixture.addPerson(id, ['ann'], { ...others, plan: 'pro', tier: null, $browser: 'Chrome' });
  const filters = [
    ...person('plan', 'pro'),
    ...person('$initial_browser', 'chrome'),
    { key: 'tier', type: 'person', operator: 'is_set', value: 'is_set' },
    { key: 'nothing', type: 'person', operator: 'is_not_set', value: 'is_not_set' },
  ];
  await fixture.addFlag(id, 'one', { filters: { groups: [{ properties: filters }] } });
  const loaded = await loadAndEvaluate(id, { distinctId: 'ann' });
  expect([loaded.stored.personProperties, loaded.values]).toEqual([
    { plan: 'pro', tier: null, $browser: 'Chrome' },
    { one: true },
  ]);
  const sent = await loadAndEvaluate(id, { distinctId: 'ann', personProperties: { plan: 'pro', $browser: 'Safari' } });
  expect([sent.stored.personProperties, sent.values]).toEqual([{ tier: null }, { one: false }]);
});

describe('experience continuity across login', () => {
  const half = { filters: { groups: [{ rollout_percentage: 50 }] }, ensure_experience_continuity: true };
  const keysStored = async (environmentId: number) =>
    (
      await fixture.database.sql.query<{ flag_key: string; hash_key: string; id: string }>(
        `SELECT h.flag_key, h.hash_key, p.main_distinct_id AS id FROM feature_flag_hash_key h
           JOIN person p ON p.project_id = h.project_id AND p.uuid = h.person_uuid
          WHERE h.project_id = $1 ORDER BY 1, 3`,
        [environmentId],
      )
    ).map(({ flag_key, hash_key, id }) => `${id}: ${flag_key}=${hash_key}`);

  test('flag-060 to flag-062: stores the anonymous ID for the person, and uses the stored ID in later requests', async () => {
    const id = await fixture.createEnvironment();
    for (const key of ['one', 'two']) await fixture.addFlag(id, key, half);
    await fixture.addFlag(id, 'off', { ...half, active: false });
    await fixture.addFlag(id, 'plain');
    await fixture.addPerson(id, ['u', 'a']);
    const first = await loadAndEvaluate(id, { distinctId: 'u', anonymousDistinctId: 'a' });
    const overrides = new Map([
      ['one', 'a'],
      ['two', 'a'],
    ]);
    expect([first.stored.hashKeyOverrides, first.queryCount]).toEqual([overrides, 2]);
    expect(await keysStored(id)).toEqual(['u: one=a', 'u: two=a']);
    const later = await loadAndEvaluate(id, { distinctId: 'u' });
    expect([later.stored.hashKeyOverrides, later.queryCount]).toEqual([overrides, 1]);
    const another = await loadAndEvaluate(id, { distinctId: 'u', anonymousDistinctId: 'b' });
    expect([another.stored.hashKeyOverrides, another.queryCount]).toEqual([overrides, 1]);
    await fixture.addFlag(id, 'three', half);
    const grown = await loadAndEvaluate(id, { distinctId: 'u', anonymousDistinctId: 'b' });
    expect(grown.stored.hashKeyOverrides).toEqual(new Map([...overrides, ['three', 'b']]));
  });

  test("stores a row for each person in a request, and prefers an existing row of the distinct ID's person", async () => {
    const id = await fixture.createEnvironment();
    await fixture.addFlag(id, 'one', half);
    await Promise.all([fixture.addPerson(id, ['u']), fixture.addPerson(id, ['a'])]);
    await loadAndEvaluate(id, { distinctId: 'u', anonymousDistinctId: 'a' });
    expect(await keysStored(id)).toEqual(['a: one=a', 'u: one=a']);
    await fixture.database.sql.query(
      `UPDATE feature_flag_hash_key h SET hash_key = 'other' FROM person p
        WHERE p.uuid = h.person_uuid AND h.project_id = $1 AND p.main_distinct_id = 'a'`,
      [id],
    );
    for (const request of [{ distinctId: 'u', anonymousDistinctId: 'a' }, { distinctId: 'u' }]) {
      expect((await loadAndEvaluate(id, request)).stored.hashKeyOverrides).toEqual(new Map([['one', 'a']]));
    }
  });

  test('flag-063: stores nothing for unknown persons', async () => {
    const id = await fixture.createEnvironment();
    await fixture.addFlag(id, 'one', half);
    const { stored, queryCount } = await loadAndEvaluate(id, { distinctId: 'u', anonymousDistinctId: 'a' });
    expect([stored.hashKeyOverrides, queryCount, await keysStored(id)]).toEqual([new Map(), 1, []]);
  });

  test('flag-064: if the database is down, fails only flags with experience continuity', async () => {
    const id = await fixture.createEnvironment();
    await fixture.addFlag(id, 'one', half);
    await fixture.addFlag(id, 'plain');
    const { values } = await loadAndEvaluate(id, { distinctId: 'u', anonymousDistinctId: 'a' }, { fails: () => true });
    expect(values).toEqual({ one: 'hash_key_override_error', plain: true });
  });

  test('sends no query for flags that have the same value for everyone', async () => {
    const id = await fixture.createEnvironment();
    await fixture.addFlag(id, 'one', { ensure_experience_continuity: true });
    expect(await loadAndEvaluate(id, { distinctId: 'u', anonymousDistinctId: 'a' })).toMatchObject({ queryCount: 0 });
  });

  test('stores one row if requests are concurrent, and returns the same value to all of them', async () => {
    const id = await fixture.createEnvironment();
    await fixture.addFlag(id, 'one', half);
    await fixture.addPerson(id, ['u']);
    const ids = Array.from({ length: 12 }, (_, index) => `anon-${index}`);
    const values = await Promise.all(
      ids.map((anon) => loadAndEvaluate(id, { distinctId: 'u', anonymousDistinctId: anon })),
    );
    const keys = values.map(
      ({ stored }) => stored.hashKeyOverrides !== 'unavailable' && stored.hashKeyOverrides.get('one'),
    );
    expect(new Set(keys).size).toBe(1);
    expect(await keysStored(id)).toEqual([`u: one=${keys[0]}`]);
  });
});

test('flag-066: `not_in` matches unknown persons, because they are not in any static cohort', async () => {
  const id = await fixture.createEnvironment();
  const cohort = await fixture.addCohort(id, { is_static: true });
  const properties = [{ key: 'id', type: 'cohort', operator: 'not_in', value: cohort }];
  await fixture.addFlag(id, 'outside', { filters: { groups: [{ properties }] } });
  expect((await loadAndEvaluate(id, { distinctId: 'unknown' })).values).toEqual({ outside: true });
});
