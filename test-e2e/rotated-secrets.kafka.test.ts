import { eventually, type MountedSecret, mountSecret, testServers } from '@millrace/testing';
import pg from 'pg';
import { waitUntilDrained } from './support/log-progress.ts';
import { type RunningServices, startServices } from './support/start-services.ts';
import { type SteadyLoad, startSteadyLoad } from './support/steady-load.ts';

/**
 * Under load, the PostgreSQL password changes first, and then the role. The secret is mounted as in Kubernetes, and no
 * process restarts. Every acknowledged event must be stored once.
 */
const unique = `${process.pid}_${Date.now()}`;
const [first, second] = [`rotated_first_${unique}`, `rotated_second_${unique}`];
let server: pg.Client;
let services: RunningServices;
let secret: MountedSecret;
let load: SteadyLoad;

beforeAll(async () => {
  server = new pg.Client(testServers().databaseUrl);
  await server.connect();
  const { rows } = await server.query<{ owner: string }>('SELECT current_user AS owner');
  const owner = server.escapeIdentifier(rows[0]?.owner ?? '');
  for (const role of [first, second]) {
    await server.query(`CREATE ROLE ${role} LOGIN PASSWORD 'one' IN ROLE ${owner}`);
    await server.query(`ALTER ROLE ${role} SET role TO ${owner}`);
  }
  secret = mountSecret({ username: first, password: 'one' });
  services = await startServices({
    eventLog: 'postgres',
    databaseUrlForServices: (url) => url.replace(/\/\/[^@/]*@/, '//'),
    settings: {
      DATABASE_USER_FILE: secret.file('username'),
      DATABASE_PASSWORD_FILE: secret.file('password'),
      LOG_LEVEL: 'error',
    },
  });
  load = startSteadyLoad(services.ingestUrl, services.tenant.projectApiKey, { clients: 4, pauseMs: 25 });
});
afterAll(async () => {
  await load?.stop();
  await services?.stop();
  for (const role of [first, second]) await server.query(`DROP ROLE ${role}`);
  await server.end();
  secret?.remove();
});

const endConnections = (role: string) =>
  server.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);

/** Waits until a new event is accepted and the API returns it, which proves that all three services are connected. */
async function expectNewEvents(): Promise<void> {
  const since = load.attempts.length;
  const taken = await eventually(() => load.attempts.slice(since).find(({ status }) => status === 200) ?? false, {
    what: 'an event that is taken',
  });
  await eventually(async () => expect(await eventById(taken.uuid)).toBe(200), { what: 'the event in the API' });
}

async function eventById(uuid: string): Promise<number> {
  const { apiUrl, tenant } = services;
  const response = await fetch(`${apiUrl}/api/projects/${tenant.projectId}/events/${uuid}/`, {
    headers: { authorization: `Bearer ${tenant.personalApiKey}` },
  });
  await response.arrayBuffer();
  return response.status;
}

test('with a single database role, new connections fail until the password file is updated, and no events are lost', async () => {
  await expectNewEvents();
  await server.query(`ALTER ROLE ${first} PASSWORD 'two'`);
  await endConnections(first);
  await eventually(() => load.attempts.some(({ status }) => status === 503), { what: 'a refused request' });
  secret.exchange({ username: first, password: 'two' });
  await expectNewEvents();
});

test('with two roles, uses the other role for new connections', async () => {
  secret.exchange({ username: second, password: 'one' });
  await endConnections(first);
  await expectNewEvents();
  await endConnections(first);
  // Retry, because a terminated connection takes a moment to end.
  await eventually(async () => {
    const { rows } = await server.query('SELECT DISTINCT usename FROM pg_stat_activity WHERE usename = ANY ($1)', [
      [first, second],
    ]);
    expect(rows).toEqual([{ usename: second }]);
  });
});

test('stores every acknowledged event once without restarting a process', async () => {
  await load.stop();
  await waitUntilDrained(services);
  const { rows } = await services.database.query<{ uuid: string; count: number }>(
    'SELECT uuid, count(*)::int AS count FROM event GROUP BY uuid',
  );
  const stored = new Map(rows.map(({ uuid, count }) => [uuid, count]));
  const acknowledged = load.attempts.filter(({ status }) => status === 200);
  expect(acknowledged.length).toBeGreaterThan(0);
  expect(acknowledged.filter(({ uuid }) => stored.get(uuid) !== 1)).toEqual([]);
  expect([...stored.values()].filter((count) => count !== 1)).toEqual([]);
  const exits = await Promise.all([services.gateway, ...services.consumers].map((service) => service.stop()));
  expect(exits).toEqual([0, 0]);
});
