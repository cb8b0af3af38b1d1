import {
  compilePrograms,
  createTestTenant,
  eventually,
  type ServiceProcess,
  startService,
  testServers,
} from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import { type EagerLoad, startEagerLoad } from './support/eager-load.ts';
import { waitUntilDrained } from './support/log-progress.ts';
import { type RunningServices, startServices } from './support/start-services.ts';

/**
 * An environment, a project and an organization are deleted while they and another tenant receive events at full speed.
 * The API returns 204 immediately, keys are rejected within a second, and rows are deleted in the background.
 */
let services: RunningServices;
let worker: ServiceProcess;
let removeProgram: () => Promise<void>;
const loads: EagerLoad[] = [];
beforeAll(async () => {
  services = await startServices({ eventLog: 'kafka', consumers: 2 });
  const program = await compilePrograms(['services/delivery-worker/src/main.ts']);
  removeProgram = program.remove;
  worker = await startService('delivery-worker', program.files[0] ?? '', {
    DATABASE_URL: services.databaseUrl,
    HEALTH_PORT: '0',
    POLL_INTERVAL_MS: '100',
  });
});
afterAll(async () => {
  await Promise.all(loads.map((load) => load.stop()));
  await worker?.stop();
  await services?.stop();
  await removeProgram?.();
});

const ingestTables = [
  'event',
  'event_identity',
  'person',
  'person_distinct_id',
  'group',
  'group_type_mapping',
  'ingestion_warning',
  'event_definition',
  'property_definition',
];

async function rowsOf(environmentId: number): Promise<Record<string, number>> {
  const counts = ingestTables.map(
    (table) => `(SELECT count(*)::int FROM "${table}" WHERE project_id = $1) AS "${table}"`,
  );
  const { rows } = await services.database.query(`SELECT ${counts.join(', ')}`, [environmentId]);
  return rows[0] as Record<string, number>;
}

const nothing = Object.fromEntries(ingestTables.map((table) => [table, 0]));

interface Busy {
  id: number;
  token: string;
  load: EagerLoad;
}

function busy({ id, api_token: token }: { id: number; api_token: string }): Busy {
  const load = startEagerLoad(services.ingestUrl, token);
  loads.push(load);
  return { id, token, load };
}

test('deletes a project under full load without affecting other tenants', async () => {
  const { tenant, apiUrl, database } = services;
  const other = await createTestTenant(services.databaseUrl);
  const api = (method: string, path: string, body?: object, key = tenant.personalApiKey) =>
    fetch(apiUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const made = async (path: string) => {
    const response = await api('POST', path, { name: 'Made' });
    if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return busy((await response.json()) as { id: number; api_token: string });
  };
  const ofOrganization = `/api/organizations/${tenant.organizationId}/projects/`;
  const remaining = busy({ id: tenant.environmentId, api_token: tenant.token });
  const project = await made(ofOrganization);
  const environment = await made(`/api/projects/${tenant.projectId}/environments/`);
  const organization = busy({ id: other.environmentId, api_token: other.token });
  const deleted = [environment, project, organization];

  for (const { id } of [remaining, ...deleted]) {
    await eventually(async () => ((await rowsOf(id)).event ?? 0) > 500, { what: 'Storing' });
  }
  const paths: [Busy, string, string][] = [
    [environment, `/api/projects/${tenant.projectId}/environments/${environment.id}/`, tenant.personalApiKey],
    [project, `/api/projects/${project.id}/`, tenant.personalApiKey],
    [organization, `/api/organizations/${other.organizationId}/`, other.personalApiKey],
  ];
  for (const [{ load }, path, key] of paths) {
    expect((await api('DELETE', path, undefined, key)).status).toBe(204);
    await eventually(() => load.hasLastStatus(401), { what: `Refusing the key of ${path}` });
  }
  const acknowledgedOnce = deleted.map(({ load }) => load.acknowledged().length);
  const acknowledgedBefore = remaining.load.acknowledged().length;
  await eventually(() => remaining.load.acknowledged().length > acknowledgedBefore + 500, { what: 'Going on' });
  // Once rejected, a key is never accepted again.
  expect(deleted.map(({ load }) => load.acknowledged().length)).toEqual(acknowledgedOnce);
  for (const { load } of deleted) {
    await load.stop();
    expect([...load.refused().keys()]).toEqual([401]);
  }

  // Wait until no event is in flight. Instead of checking this, the worker waits five minutes before it deletes rows.
  await waitUntilDrained(services);
  for (const [place, consumer] of services.consumers.entries()) {
    expect(await consumer.stop()).toBe(0);
    expect(consumer.output()).not.toMatch(/"level":"error"/);
    services.consumers[place] = await services.startConsumer();
  }
  await database.query('UPDATE environment_cleanup SET not_before = now()');
  await eventually(
    async () => expect((await database.query('SELECT environment_id FROM environment_cleanup')).rows).toEqual([]),
    { what: 'Cleaning up' },
  );
  await remaining.load.stop();
  expect([...remaining.load.refused()]).toEqual([]);
  await waitUntilDrained(services);

  for (const { id } of deleted) expect(await rowsOf(id)).toEqual(nothing);
  const { rows } = await database.query<{ uuid: string }>('SELECT uuid FROM event WHERE project_id = $1', [
    remaining.id,
  ]);
  const stored = new Set(rows.map(({ uuid }) => uuid));
  expect(stored.size).toBe(rows.length);
  expect(remaining.load.acknowledged().filter((uuid) => !stored.has(uuid)).length).toBe(0);
  for (const count of Object.values(await rowsOf(remaining.id))) expect(count).toBeGreaterThan(0);
  expect(await deadLetters()).toBe(0);
});

test('drops events that are in the log when their project is deleted', async () => {
  const tenant = await createTestTenant(services.databaseUrl);
  await Promise.all(services.consumers.map((consumer) => consumer.stop()));
  const load = startEagerLoad(services.ingestUrl, tenant.token);
  await eventually(() => load.acknowledged().length > 500, { what: 'Taking events' });
  const response = await fetch(`${services.apiUrl}/api/projects/${tenant.projectId}/`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${tenant.personalApiKey}` },
  });
  expect(response.status).toBe(204);
  await load.stop();
  for (const place of services.consumers.keys()) services.consumers[place] = await services.startConsumer();
  await waitUntilDrained(services);
  expect(await rowsOf(tenant.environmentId)).toEqual(nothing);
  expect(await deadLetters()).toBe(0);
});

async function deadLetters(): Promise<number> {
  const admin = new Kafka({ brokers: testServers().kafkaBrokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const ends = await admin.fetchTopicOffsets(`${services.topicPrefix}events.dead-letter`);
    return ends.reduce((sum, { high }) => sum + Number(high), 0);
  } finally {
    await admin.disconnect();
  }
}
