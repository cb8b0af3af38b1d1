import { randomUUID } from 'node:crypto';
import type { ProjectChange } from '@millrace/contracts';
import { createLogger, createMetrics } from '@millrace/runtime';
import {
  createTestDatabase,
  createTestTenant,
  eventually,
  type TestDatabase,
  type TestTenant,
} from '@millrace/testing';
import { createDatabase, type Database } from './database.ts';
import { type ProjectChanges, watchProjectChanges } from './project-changes.ts';

const logger = createLogger('test', 'error');
let testDatabase: TestDatabase;
let database: Database;
let changes: ProjectChanges;
let received: (ProjectChange | null)[];
let tenant: TestTenant;
const metrics = createMetrics({ withProcessMetrics: false });

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger });
  changes = watchProjectChanges({ database, logger, metrics });
  changes.subscribe((change) => received.push(change));
  received = [];
  await eventually(() => changes.isSubscribed(), { what: 'hearing' });
});
afterAll(async () => {
  await changes.stop();
  await database.stop();
  await testDatabase.drop();
});
beforeEach(async () => {
  tenant = await createTestTenant(database);
});

const mark = () => ({ environmentId: null, tokens: [`mark-${randomUUID()}`], isOfFlags: false });

/** Returns the changes that a statement announces: the ones received between two marker notifications. */
async function announcedBy(statement: string): Promise<(ProjectChange | null)[]> {
  const [before, after] = [mark(), mark()];
  const announce = ({ tokens }: ProjectChange) =>
    database.sql.query('SELECT notify_project_change(NULL, $1::text[])', [tokens]);
  const indexOf = ({ tokens }: ProjectChange) => received.findIndex((change) => change?.tokens[0] === tokens[0]);
  await announce(before);
  await database.sql.query(
    statement.replaceAll(':id', String(tenant.environmentId)).replaceAll(':token', tenant.token),
  );
  await announce(after);
  await eventually(() => indexOf(after) >= 0, { what: 'the marker' });
  return received.slice(indexOf(before) + 1, indexOf(after));
}

const own = () => ({ environmentId: tenant.environmentId, tokens: [tenant.token], isOfFlags: false });
const ownFlags = () => ({ environmentId: tenant.environmentId, tokens: [], isOfFlags: true });

test.each<[string, string, () => ProjectChange[]]>([
  ['a setting', 'UPDATE environment SET anonymize_ips = true WHERE id = :id', () => [own()]],
  [
    'a replaced key',
    "UPDATE environment SET api_token = ':token-2' WHERE id = :id",
    () => [{ ...own(), tokens: [tenant.token, `${tenant.token}-2`] }],
  ],
  ['a deletion', 'DELETE FROM environment WHERE id = :id', () => [own()]],
  [
    'a cascading deletion',
    'DELETE FROM organization WHERE id = (SELECT organization_id FROM project WHERE id = :id)',
    () => [own()],
  ],
  [
    'a plan',
    `UPDATE organization SET available_product_features = '[{"key":"x"}]'
      WHERE id = (SELECT organization_id FROM project WHERE id = :id)`,
    () => [own()],
  ],
  [
    'the operator’s lists',
    `INSERT INTO ingestion_restriction (id, kind, token) VALUES ('${randomUUID()}', 'drop_event', ':token')`,
    () => [{ environmentId: null, tokens: [tenant.token], isOfFlags: false }],
  ],
  ['a flag', "INSERT INTO feature_flag (project_id, key) VALUES (:id, 'a')", () => [ownFlags()]],
  ['a cohort', 'INSERT INTO cohort (project_id) VALUES (:id)', () => [ownFlags()]],
  [
    'a group type',
    "INSERT INTO group_type_mapping (project_id, group_type, group_type_index, created_at) VALUES (:id, 'a', 0, now())",
    () => [ownFlags()],
  ],
  [
    'a secret key',
    "INSERT INTO project_secret_key (project_id, slot, secure_value, mask_value) VALUES (:id, 'primary', ':token', 'm')",
    () => [ownFlags()],
  ],
  ['an update without a change', 'UPDATE environment SET anonymize_ips = anonymize_ips WHERE id = :id', () => []],
  ['the flag for the first event', 'UPDATE environment SET ingested_event = true WHERE id = :id', () => []],
])('announces the expected changes for %s', async (_name, statement, expected) => {
  expect(await announcedBy(statement)).toEqual(expected());
});

describe('the version of flag definitions', () => {
  const versionOf = async () => {
    const rows = await database.sql.query<{ version: string }>(
      'SELECT version FROM flag_definitions_version WHERE project_id = $1',
      [tenant.environmentId],
    );
    return Number(rows[0]?.version ?? 0);
  };
  const run = (statement: string) => database.sql.query(statement, [tenant.environmentId]);

  test.each([
    ['a toggled flag', 'UPDATE feature_flag SET active = false WHERE project_id = $1', 1],
    ['the time of the last call', 'UPDATE feature_flag SET last_called_at = now() WHERE project_id = $1', 0],
    ['a deleted flag', 'DELETE FROM feature_flag WHERE project_id = $1', 1],
    ['filters of a cohort', `UPDATE cohort SET filters = '{"a":1}' WHERE project_id = $1`, 1],
    ['the size of a cohort', 'UPDATE cohort SET count = 7 WHERE project_id = $1', 0],
    ['the time zone', "UPDATE environment SET timezone = 'Europe/Berlin' WHERE id = $1", 1],
    ['another setting', 'UPDATE environment SET anonymize_ips = true WHERE id = $1', 0],
  ])(
    'the version of flag definitions increases only for changes that affect them: %s',
    async (_name, statement, steps) => {
      await run("INSERT INTO feature_flag (project_id, key) VALUES ($1, 'a')");
      await run('INSERT INTO cohort (project_id) VALUES ($1)');
      expect(await versionOf()).toBe(2);
      await run(statement);
      expect(await versionOf()).toBe(2 + steps);
    },
  );

  test('deletes the version of flag definitions with its environment', async () => {
    await run("INSERT INTO feature_flag (project_id, key) VALUES ($1, 'a')");
    await run('DELETE FROM environment WHERE id = $1');
    expect(await versionOf()).toBe(0);
  });
});

test('announces a change that does not fit into a notification as "anything may have changed"', async () => {
  const long = 'x'.repeat(8000);
  expect(await announcedBy(`UPDATE environment SET api_token = '${long}' WHERE id = :id`)).toEqual([null]);
});

test('a metric shows that project change notifications are received', async () => {
  expect(await metrics.registry.metrics()).toContain('millrace_project_changes_subscribed 1');
});

test('a metric and a warning show that project change notifications are not received', async () => {
  const warnings: string[] = [];
  const own = createMetrics({ withProcessMetrics: false });
  const deaf = watchProjectChanges({
    database: {
      listen(options) {
        options.onInterrupted(new Error('no'));
        return { isListening: () => false, stop: async () => {} };
      },
    },
    logger: Object.assign(createLogger('test', 'error'), { warn: (message: string) => void warnings.push(message) }),
    metrics: own,
  });
  expect(deaf.isSubscribed()).toBe(false);
  expect(await own.registry.metrics()).toContain('millrace_project_changes_subscribed 0');
  expect(warnings).toEqual([expect.stringContaining('notifications about changed keys')]);
});
