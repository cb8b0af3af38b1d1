import { setTimeout as sleep } from 'node:timers/promises';
import { redactedPayload } from '@millrace/contracts';
import { type ProjectChanges, type Sql, watchProjectChanges } from '@millrace/db/sql';
import { createLogger, createMetrics } from '@millrace/runtime';
import { eventually } from '@millrace/testing';
import type { CompiledFlags } from '../compile/compiled.ts';
import { createFlagDefinitionCache, loadDefinitions } from './definitions.ts';
import { createFlagFixture, type FlagFixture } from './testing/flag-fixture.ts';

let fixture: FlagFixture;
let changes: ProjectChanges;
beforeAll(async () => {
  fixture = await createFlagFixture();
  const logger = createLogger('flag-store-test', 'error');
  changes = watchProjectChanges({ database: fixture.database, logger, metrics: createMetrics() });
  await eventually(() => changes.isSubscribed(), { what: 'hearing of changes' });
});
afterAll(async () => {
  await changes.stop();
  await fixture.stop();
});

const deaf: Pick<ProjectChanges, 'subscribe' | 'isSubscribed'> = { subscribe: () => {}, isSubscribed: () => false };
const keysOf = async (flags: CompiledFlags | Promise<CompiledFlags>) => [...(await flags).byKey.keys()].sort();

function remember(options: Partial<Parameters<typeof createFlagDefinitionCache>[0]> = {}) {
  const queries: string[] = [];
  const outcomes: string[] = [];
  const sql: Sql = {
    query: (text, values) => {
      queries.push(text.includes('feature_flag f') ? 'load' : 'version');
      return fixture.database.sql.query(text, values);
    },
  };
  const definitions = createFlagDefinitionCache({
    sql,
    changes,
    maxBytes: 1_000_000,
    onLookup: (outcome) => outcomes.push(outcome),
    ...options,
  });
  return { definitions, queries, outcomes };
}

describe('loadDefinitions', () => {
  test('reads flags in the order of their keys, cohorts, group types, time zone and version with one statement', async () => {
    const environmentId = await fixture.createEnvironment();
    const { sql } = fixture.database;
    await fixture.addFlag(environmentId, 'b');
    await fixture.addFlag(environmentId, 'a', { active: false, rollout_percentage: 40, filters: {} });
    await fixture.addFlag(environmentId, 'gone', { deleted: true });
    const tree = { type: 'AND', values: [] };
    const live = await fixture.addCohort(environmentId, { filters: { properties: tree } });
    const old = await fixture.addCohort(environmentId, { groups: [{ properties: { plan: 'pro' } }] });
    const fixed = await fixture.addCohort(environmentId, { is_static: true });
    await fixture.addCohort(environmentId, { deleted: true });
    await sql.query('INSERT INTO group_type_mapping VALUES ($1, $2, 0, now())', [environmentId, 'company']);
    await sql.query(`UPDATE environment SET timezone = 'America/New_York' WHERE id = $1`, [environmentId]);
    const queries: string[] = [];
    const definitions = await loadDefinitions(
      {
        query(text, values) {
          queries.push(text);
          return sql.query(text, values);
        },
      },
      environmentId,
    );
    expect(queries).toHaveLength(1);
    expect(definitions).toMatchObject({
      environmentId,
      version: '9',
      timeZone: 'America/New_York',
      groupTypes: { 0: 'company' },
      matchingVersion: 1,
      flags: [
        { key: 'a', active: false, rollout_percentage: 40, filters: {}, version: 1 },
        { key: 'b', active: true, rollout_percentage: null, filters: { groups: [{}] } },
      ],
    });
    expect(definitions?.cohorts.sort((a, b) => a.id - b.id)).toEqual([
      { id: live, isStatic: false, tree },
      {
        id: old,
        isStatic: false,
        tree: {
          type: 'OR',
          values: [{ type: 'AND', values: [{ type: 'person', key: 'plan', operator: 'exact', value: 'pro' }] }],
        },
      },
      { id: fixed, isStatic: true, tree: null },
    ]);
  });

  test('returns null for an environment that does not exist', async () => {
    expect(await loadDefinitions(fixture.database.sql, 2_000_000_000)).toBeNull();
  });
});

describe('createFlagDefinitionCache', () => {
  test('uses one query for concurrent callers, and does not query again until there is a change', async () => {
    const environmentId = await fixture.createEnvironment();
    await fixture.addFlag(environmentId, 'a');
    const { definitions, queries } = remember({ changes: { subscribe: () => {}, isSubscribed: () => true } });
    await Promise.all(Array.from({ length: 20 }, () => definitions.get(environmentId)));
    expect(definitions.get(environmentId)).not.toBeInstanceOf(Promise);
    expect(queries).toEqual(['load']);
  });

  test('after a change is announced, returns the new definitions from the next request on', async () => {
    const environmentId = await fixture.createEnvironment();
    const other = await fixture.createEnvironment();
    const { definitions, queries } = remember();
    await Promise.all([definitions.get(environmentId), definitions.get(other)]);
    await fixture.addFlag(environmentId, 'new');
    await eventually(async () => (await keysOf(definitions.get(environmentId))).length === 1, { what: 'the new flag' });
    expect(queries).toEqual(['load', 'load', 'load']);
    expect(definitions.get(other)).not.toBeInstanceOf(Promise);
  });

  test('without announcements, checks the version every second and loads definitions only after a change', async () => {
    const environmentId = await fixture.createEnvironment();
    const { definitions, queries, outcomes } = remember({ changes: deaf });
    await definitions.get(environmentId);
    await sleep(1100);
    await definitions.get(environmentId);
    expect(queries).toEqual(['load', 'version']);
    await fixture.addFlag(environmentId, 'new');
    await eventually(async () => (await keysOf(definitions.get(environmentId))).length === 1, { what: 'the new flag' });
    expect(queries.filter((query) => query === 'load')).toHaveLength(2);
    expect(outcomes).not.toContain('failed');
  });

  test('loads definitions again if a change is announced during the first load', async () => {
    const environmentId = await fixture.createEnvironment();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let tell: Parameters<ProjectChanges['subscribe']>[0] = () => {};
    let isFirst = true;
    const sql: Sql = {
      async query(text, values) {
        const rows = await fixture.database.sql.query(text, values);
        if (isFirst) {
          isFirst = false;
          await released;
        }
        return rows as never[];
      },
    };
    const { definitions } = remember({
      sql,
      changes: {
        subscribe(onChange) {
          tell = onChange;
        },
        isSubscribed: () => true,
      },
    });
    const before = keysOf(definitions.get(environmentId));
    await eventually(() => !isFirst, { what: 'the first query' });
    await fixture.addFlag(environmentId, 'new');
    tell({ environmentId, tokens: [], isOfFlags: true });
    const after = keysOf(definitions.get(environmentId));
    release();
    expect([await before, await after]).toEqual([[], ['new']]);
    expect(await keysOf(definitions.get(environmentId))).toEqual(['new']);
  });

  test('while the database is down, returns the last known definitions, and fails if no definitions are known', async () => {
    const environmentId = await fixture.createEnvironment();
    await fixture.addFlag(environmentId, 'a');
    let isAway = false;
    const sql: Sql = {
      query: (text, values) => (isAway ? Promise.reject(new Error('away')) : fixture.database.sql.query(text, values)),
    };
    const { definitions, outcomes } = remember({ sql, changes: deaf });
    await definitions.get(environmentId);
    isAway = true;
    await sleep(1100);
    expect(await keysOf(definitions.get(environmentId))).toEqual(['a']);
    expect(definitions.get(environmentId)).not.toBeInstanceOf(Promise);
    expect(outcomes).toEqual(['loaded', 'failed']);
    await expect(definitions.get(environmentId + 1)).rejects.toThrow('away');
    isAway = false;
    await fixture.addFlag(environmentId, 'b');
    await eventually(async () => (await keysOf(definitions.get(environmentId))).length === 2, { what: 'the change' });
  });

  test('if the database does not respond, returns known definitions without delay', async () => {
    const environmentId = await fixture.createEnvironment();
    await fixture.addFlag(environmentId, 'a');
    let isSilent = false;
    const sql: Sql = {
      query: (text, values) => (isSilent ? new Promise(() => {}) : fixture.database.sql.query(text, values)),
    };
    const { definitions } = remember({ sql, changes: deaf });
    await definitions.get(environmentId);
    isSilent = true;
    await sleep(1100);
    expect(await keysOf(definitions.get(environmentId))).toEqual(['a']);
  });

  test('evicts the least recently used entry to limit memory usage, and caches an oversized entry alone', async () => {
    const [small, other, large] = await Promise.all([1, 2, 3].map(() => fixture.createEnvironment()));
    if (small === undefined || other === undefined || large === undefined) throw new Error('unreachable');
    const filters = { groups: [], note: 'x'.repeat(20_000) };
    await fixture.addFlag(large, 'a', { filters });
    const { definitions, queries } = remember({ maxBytes: 10_000 });
    for (const id of [small, other, small, large, large]) await definitions.get(id);
    expect(queries).toHaveLength(3);
    expect(definitions.usedBytes()).toBe(10_000);
    await definitions.get(other);
    expect(queries).toHaveLength(4);
    expect(definitions.usedBytes()).toBeLessThanOrEqual(10_000);
  });

  test('does not reveal encrypted payloads in an evaluation', async () => {
    const environmentId = await fixture.createEnvironment();
    const filters = { groups: [{}], payloads: { true: 'v1:secret' } };
    await fixture.addFlag(environmentId, 'secret', {
      filters,
      is_remote_configuration: true,
      has_encrypted_payloads: true,
    });
    const flags = await remember().definitions.get(environmentId);
    expect(flags.byKey.get('secret')?.payloads).toEqual(new Map([['true', redactedPayload]]));
  });
});
