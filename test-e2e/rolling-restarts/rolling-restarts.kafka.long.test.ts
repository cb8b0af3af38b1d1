import { type ServiceProcess, testSeed } from '@millrace/testing';
import { waitUntilDrained } from '../support/log-progress.ts';
import { type RunningServices, startServices } from '../support/start-services.ts';
import { startRestartClients } from './restart-clients.ts';
import { startTcpBalancer, type TcpBalancer } from './tcp-balancer.ts';

/**
 * Restarts gateways like a Kubernetes rollout. When a new gateway is ready, an old gateway gets SIGTERM and drains
 * while the load balancer still sends it connections. Clients must not notice the restarts.
 */
const restarts = 20;
const seed = testSeed();
let services: RunningServices;
let balancer: TcpBalancer;
/** The gateways behind the load balancer, oldest first. */
let gateways: ServiceProcess[];

beforeAll(async () => {
  services = await startServices({
    eventLog: 'kafka',
    managementApi: false,
    // The delay is longer than in production, because the test's load balancer checks readiness less often on a busy
    // machine.
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

test(`${restarts} rolling restarts under load fail no request and store every event once (seed ${seed})`, async () => {
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
      // Start the next gateway while this gateway drains, because starting takes most of the time.
      if (restart + 1 < restarts) starting = services.startGateway();
      exits.push(await old.stop());
      balancer.remove(old.port);
    }
  } finally {
    await clients.stop();
  }
  expect(exits).toEqual(Array.from({ length: restarts }, () => 0));
  expect(clients.sent.filter(({ outcome }) => outcome !== 200)).toEqual([]);
  // Each gateway received connections, so even clients that keep their connection moved from gateway to gateway.
  expect(balancer.connections.size).toBe(restarts + 2);

  await waitUntilDrained(services);
  const { rows } = await services.database.query<{ uuid: string; count: number }>(
    'SELECT uuid, count(*)::int AS count FROM event GROUP BY uuid',
  );
  const stored = new Map(rows.map(({ uuid, count }) => [uuid, count]));
  expect(clients.sent.filter(({ uuid }) => stored.get(uuid) !== 1)).toEqual([]);
  expect(stored.size).toBe(clients.sent.length);
}, 600_000);
