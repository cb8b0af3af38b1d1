import { startServer, type TestServer } from '@millrace/testing';
import { runCli } from '../program.ts';

/**
 * A server that acts as the gateway. Tests of services/ingest-gateway run the snippet with a real gateway, in a
 * browser.
 */
let host: TestServer;
let contents: { status: number; text: string };

const integrity = 'sha384-abc';
const versions = { '0.1.0': { 'array.js': { integrity } } };

beforeAll(async () => {
  host = await startServer((request, response) => {
    const isLibraryList = request.url === '/static/library.json';
    response.writeHead(isLibraryList ? contents.status : 404).end(isLibraryList ? contents.text : '');
  });
});
afterAll(() => host.stop());
beforeEach(() => {
  contents = { status: 200, text: JSON.stringify({ version: '0.1.0', versions }) };
});

async function run(args: string[], env: Record<string, string> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const exitCode = await runCli(['snippet', ...args], {
    env,
    out: { write: (text) => out.push(text) },
    err: { write: (text) => err.push(text) },
  });
  return { exitCode, out: out.join(''), err: err.join('') };
}

test("prints a snippet that loads the library with the project's settings", async () => {
  const { exitCode, out } = await run(['--host', `${host.url}/`, '--project-api-key', 'phc_k']);
  expect(exitCode).toBe(0);
  expect(out).toContain(`script.src = '${host.url}/array/phc_k/array.js'`);
  expect(out).toContain("posthog.init('phc_k')");
  expect(out).not.toContain('integrity');
});

test("with --pin, the snippet includes the library's version and its integrity hash", async () => {
  const { out } = await run(['--pin'], { INGEST_URL: host.url, PROJECT_API_KEY: 'phc_k' });
  expect(out).toContain(`script.src = '${host.url}/static/0.1.0/array.js'`);
  expect(out).toContain(`script.integrity = '${integrity}'`);
  const json = await run(['--pin', '--json'], { INGEST_URL: host.url, PROJECT_API_KEY: 'phc_k' });
  expect(JSON.parse(json.out)).toEqual({
    version: '0.1.0',
    src: `${host.url}/static/0.1.0/array.js`,
    integrity,
    snippet: out.trimEnd(),
  });
});

test('escapes a key that contains the end of a script element', async () => {
  const { out } = await run(['--host', host.url, '--project-api-key', "x'</script><script>alert(1)//"]);
  expect(out.match(/<\/script>/g)).toHaveLength(1);
  expect(out.match(/<script>/g)).toHaveLength(1);
});

test.each([
  ['a missing host', [], {}, 2, '--host: Pass the URL'],
  ['a host that is not a URL', ['--host', 'nowhere'], {}, 2, '--host: Must be a URL such as'],
  ['a missing key', ['--host', '<url>'], {}, 2, '--project-api-key: Pass the project API key'],
])('the snippet command reports %s', async (_what, args, env, exitCode, text) => {
  const given = args.map((arg) => arg.replace('<url>', host.url));
  expect(await run(given, env)).toEqual({ exitCode, out: '', err: expect.stringContaining(text) });
});

test.each([
  [
    'was built without the library',
    { status: 200, text: '{"version":null,"versions":{}}' },
    'without the browser library',
  ],
  ['is not a gateway', { status: 200, text: '<html>' }, 'is not a Millrace gateway'],
  ['responds with an error', { status: 503, text: '{"detail":"later"}' }, 'responded with 503'],
])('the snippet command reports a host that %s', async (_what, response, text) => {
  contents = response;
  const { exitCode, err } = await run(['--host', host.url, '--project-api-key', 'phc_k']);
  expect([exitCode > 0, err]).toEqual([true, expect.stringContaining(text)]);
});

test('the snippet command reports a host that does not respond', async () => {
  const { exitCode, err } = await run(['--host', 'http://127.0.0.1:9', '--project-api-key', 'phc_k']);
  expect([exitCode, err]).toEqual([1, expect.stringContaining('Could not reach the gateway')]);
});
