import { createFlagRows, type FlagRows } from '@millrace/flags/store/testing/flag-rows';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { sendFlagRequest } from '../testing/flag-client.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';

let fixture: GatewayFixture;
let gateway: TestGateway;
let rows: FlagRows;
let nowMs = Date.now();
beforeAll(async () => {
  fixture = await createGatewayFixture();
  rows = createFlagRows(fixture.database.sql);
  // Allows one expensive request, and no others until the clock advances.
  const config = { flagExpensiveBurstMsPerAddress: 1, flagExpensiveMsPerSecondPerAddress: 1 };
  gateway = await fixture.startGateway({ config, now: () => nowMs });
});
afterAll(() => fixture.stop());

const contains = (value: string) => ({ properties: [{ key: 'p', type: 'person', operator: 'icontains', value }] });

async function tenantWith(groups: object[]): Promise<TestTenant> {
  const tenant = await createTestTenant(fixture.database);
  await rows.addFlag(tenant.environmentId, 'f', { filters: { groups } });
  await rows.addFlag(tenant.environmentId, 'simple');
  return tenant;
}
const ask = ({ token }: TestTenant, p: string, address: string) =>
  sendFlagRequest(
    gateway,
    { token, distinct_id: 'u', person_properties: { p } },
    { headers: { 'x-forwarded-for': address } },
  );
const counted = async () => {
  const counter = await gateway.metrics.registry.getSingleMetric('millrace_flag_expensive_requests_total')?.get();
  return Object.fromEntries((counter?.values ?? []).map(({ labels, value }) => [labels.outcome, value]));
};

const long = 'x'.repeat(200_000);

test('returns 429 to an IP address that sends too many expensive requests, but serves all other requests', async () => {
  const tenant = await tenantWith([contains('y')]);
  const other = await tenantWith([contains('y')]);
  const evaluated = { status: 200, flags: { f: 'false no_condition_match:0', simple: 'true condition_match:0' } };
  expect(await ask(tenant, long, '192.0.2.1')).toMatchObject(evaluated);
  const refused = await ask(tenant, long, '192.0.2.1');
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limit_exceeded' } });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await ask(tenant, 'short', '192.0.2.1')).toMatchObject(evaluated);
  expect(await ask(tenant, long, '192.0.2.2')).toMatchObject(evaluated);
  expect(await ask(other, long, '192.0.2.1')).toMatchObject(evaluated);
  nowMs += 10_000;
  expect(await ask(tenant, long, '192.0.2.1')).toMatchObject(evaluated);
  expect(await counted()).toEqual({ evaluated: 4, refused: 1 });
});

test("reports a flag that exceeds the request's maximum cost as failed, without evaluating it", async () => {
  const tenant = await tenantWith(Array.from({ length: 300 }, (_, index) => contains(`needle ${index}`)));
  const { status, body } = await ask(tenant, long, '192.0.2.9');
  expect([status, body.errorsWhileComputingFlags]).toEqual([200, true]);
  expect(body.flags.f).toMatchObject({ enabled: false, failed: true, reason: { code: 'timeout' } });
  expect(body.flags.simple).toMatchObject({ enabled: true });
});

test('requests of many IP addresses for one project do not delay another project', async () => {
  const attacked = await tenantWith(Array.from({ length: 300 }, (_, index) => contains(`needle ${index}`)));
  const other = await tenantWith([contains('y')]);
  let isOpen = 0;
  const flood = Array.from({ length: 120 }, async (_, index) => {
    isOpen += 1;
    const reply = await ask(attacked, long, `198.51.100.${index}`);
    isOpen -= 1;
    return reply;
  });
  const replies = await Promise.all([...flood, ask(other, long, '192.0.2.1'), ask(attacked, 'short', '192.0.2.1')]);
  expect(isOpen).toBe(0);
  expect(replies.at(-2)?.flags).toEqual({ f: 'false no_condition_match:0', simple: 'true condition_match:0' });
  expect(replies.at(-1)?.flags).toEqual({ f: 'false no_condition_match:299', simple: 'true condition_match:0' });
  for (const { status, body } of replies) expect([status, body.flags.simple.enabled]).toEqual([200, true]);
});
