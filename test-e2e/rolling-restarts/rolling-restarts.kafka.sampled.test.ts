import { type ServiceProcess, storySize, testSeed } from '@millrace/testing';
import { awaitDrained } from '../support/log-progress.ts';
import { type RunningServices, startServices } from '../support/start-services.ts';
import { startRestartClients } from './restart-clients.ts';
import { startTcpBalancer, type TcpBalancer } from './tcp-balancer.ts';

/**
 * A deployment rolls as a cluster does it: a new gateway becomes ready, an old one is told to stop, learns it before the
 * balancer does, and drains. Nobody who sends may notice.
 */
const restarts = storySize(6, 20);
const seed = testSeed();
let services: RunningServices;
let balancer: TcpBalancer;
/** In the rotation, the oldest first. */
let gateways: ServiceProcess[];

beforeAll(async () => {
  services = await startServices({
    eventLog: 'kafka',
    managementApi: false,
    // A busy machine asks for readiness a good deal less often than the balancer would.
    settings: { STOP_DELAY_MS: '2000', LOG_LEVEL: 'warn' },
  });
  balancer = await startTcpBalancer();
  gateways = [services.gateway];
});
afterAll(async () => {
  await balancer?.stop();
  await Promise.all((gateways ?? []).map((gateway) => gateway.stop()));
  await services?.stop();
});

test(`${restarts} rolling restarts under load: no request fails, and every event is stored once (seed ${seed})`, async () => {
  await balancer.add(services.gateway.port);
  const second = await services.startGateway();
  gateways.push(second);
  await balancer.add(second.port);
  const clients = startRestartClients(balancer.url, services.tenant.projectApiKey, seed);
  const exits: (number | null)[] = [];
  try {
    let starting = services.startGateway();
    for (let restart = 0; restart < restarts; restart += 1) {
      const fresh = await starting;
      gateways.push(fresh);
      await balancer.add(fresh.port);
      const old = gateways.shift();
      if (old === undefined) throw new Error('there is always an old one');
      // The next one starts while this one drains: most of the time goes into starting.
      if (restart + 1 < restarts) starting = services.startGateway();
      exits.push(await old.stop());
      balancer.remove(old.port);
    }
  } finally {
    await clients.stop();
  }
  expect(exits).toEqual(Array.from({ length: restarts }, () => 0));
  expect(clients.sent.filter(({ outcome }) => outcome !== 200)).toEqual([]);
  // Each of them had its share, and was left by clients that would have stayed.
  expect(balancer.connections.size).toBe(restarts + 2);

  await awaitDrained(services);
  const { rows } = await services.database.query<{ uuid: string; count: number }>(
    'SELECT uuid, count(*)::int AS count FROM event GROUP BY uuid',
  );
  const stored = new Map(rows.map(({ uuid, count }) => [uuid, count]));
  expect(clients.sent.filter(({ uuid }) => stored.get(uuid) !== 1)).toEqual([]);
  expect(stored.size).toBe(clients.sent.length);
}, 600_000);
