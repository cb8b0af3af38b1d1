import { createFlagRows, type FlagRows } from '@millrace/flags/store/testing/flag-rows';
import { createTestTenant } from '@millrace/testing';
import { readReply } from '../testing/flag-client.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';

let fixture: GatewayFixture;
let gateway: TestGateway;
let rows: FlagRows;
beforeAll(async () => {
  fixture = await createGatewayFixture();
  rows = createFlagRows(fixture.database.sql);
  gateway = await fixture.startGateway();
});
afterAll(() => fixture.stop());

const tenant = () => createTestTenant(fixture.database);

describe('flags by runtime', () => {
  test.each<[string, Record<string, string>, string | undefined, string[]]>([
    ['a browser', { 'user-agent': 'Mozilla/5.0 (X11; Linux)' }, undefined, ['both', 'client']],
    ['the python SDK', { 'user-agent': 'posthog-python/7.0.0' }, undefined, ['both', 'server']],
    ['the Rust SDK', { 'user-agent': 'posthog-rs/0.21.0' }, undefined, ['both', 'server']],
    ['the JVM server SDK', { 'user-agent': 'posthog-server/2.9.0' }, undefined, ['both', 'server']],
    ['the edge SDK', { 'user-agent': 'posthog-edge/5.70.0' }, undefined, ['both', 'server']],
    ['the .NET SDK', { 'user-agent': 'posthog-dotnet/2.7.0 (.NET 9; Linux; X64)' }, undefined, ['both', 'server']],
    ['Unity', { 'user-agent': 'posthog-unity/0.2.0' }, undefined, ['both', 'client']],
    ['curl', { 'user-agent': 'curl/8.0' }, undefined, ['both', 'server']],
    ['an app', { 'user-agent': 'posthog-android/3.0' }, undefined, ['both', 'client']],
    ['a page', { 'user-agent': 'x', origin: 'https://a.example' }, undefined, ['both', 'client']],
    ['nothing', { 'user-agent': 'x' }, undefined, ['both']],
    ['the runtime in the request', { 'user-agent': 'curl/8.0' }, 'client', ['both', 'client']],
    ['all', { 'user-agent': 'x' }, 'all', ['both', 'client', 'server']],
    ['an unknown runtime', { 'user-agent': 'x' }, 'spaceship', ['both', 'client', 'server']],
  ])('flag-070: returns flags for %s', async (_name, headers, said, expected) => {
    const { token, environmentId } = await tenant();
    await rows.addFlag(environmentId, 'both');
    for (const runtime of ['client', 'server'])
      await rows.addFlag(environmentId, runtime, { evaluation_runtime: runtime });
    // `fetch` cannot be used here, because it adds a header that identifies browsers.
    const question = { token, distinct_id: 'u', ...(said === undefined ? {} : { evaluation_runtime: said }) };
    const reply = await sendWithoutFetch(gateway, question, headers);
    expect(Object.keys(reply.flags).sort()).toEqual(expected);
  });

  test("flag-070: reports omitted flags only if the client's runtime is unknown", async () => {
    const { token, environmentId } = await tenant();
    for (const key of ['a', 'b']) await rows.addFlag(environmentId, key, { evaluation_runtime: 'server' });
    await rows.addFlag(environmentId, 'both');
    const withheldFrom = async (agent: string, more: object = {}) =>
      (await sendWithoutFetch(gateway, { token, distinct_id: 'u', ...more }, { 'user-agent': agent })).body
        .flagsWithheld;
    const expected = (count: number) => ({ count, reason: expect.stringContaining('evaluation_runtime') });
    expect(await withheldFrom('my-program/1.0')).toEqual(expected(2));
    expect(await withheldFrom('my-program/1.0', { flag_keys: ['a', 'both'] })).toEqual(expected(1));
    expect(await withheldFrom('my-program/1.0', { evaluation_runtime: 'client' })).toBeUndefined();
    expect(await withheldFrom('Mozilla/5.0')).toBeUndefined();
  });
});

/** Sends a request without `fetch`, whose headers make the gateway treat the client as a browser. */
async function sendWithoutFetch(to: TestGateway, question: object, headers: Record<string, string>) {
  const { request } = await import('node:http');
  const text = await new Promise<string>((resolve, reject) => {
    const asked = request(`${to.url}/flags?v=2`, { method: 'POST', headers }, async (response) => {
      const pieces = await response.toArray();
      resolve(Buffer.concat(pieces).toString('utf8'));
    });
    asked.on('error', reject);
    asked.end(JSON.stringify(question));
  });
  return readReply(new Response(text));
}
