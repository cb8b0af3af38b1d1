import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, testServers } from '@millrace/testing';
import { removePostgresFiles } from '../servers/postgres.ts';
import { findProcesses } from '../testing/find-processes.ts';
import { paste } from '../testing/paste.ts';
import { runStartCommand, type StartCommand } from '../testing/start-command.ts';
import type { Connection } from './connection-file.ts';

let directory: string;
let taken: Server;
let takenPort: number;
const commands: StartCommand[] = [];

const start = (env: Record<string, string> = {}, options: string[] = []) => {
  const command = runStartCommand(
    directory,
    { INGEST_PORT: String(takenPort), API_PORT: String(takenPort), ...env },
    { options },
  );
  commands.push(command);
  return command;
};
const curlLines = (command: StartCommand) =>
  [...command.output().matchAll(/^ {2}(.*curl .*)$/gm)].map(([, line]) => String(line));

/** The way to call `millrace` that is printed. */
const printedCommand = (command: StartCommand) => String(/^ {2}(.*npx millrace .*)$/m.exec(command.output())?.[1]);

/** The two commands a person pastes: send an event, look at it. */
async function sendAndSee(command: StartCommand): Promise<string> {
  const [send = '', see = ''] = curlLines(command);
  expect(await paste(send)).toBe('{"status":"Ok"}');
  let seen = '';
  await eventually(
    async () => {
      seen = await paste(see);
      return seen.includes('"distinct_id":"you"');
    },
    { what: 'the arrival of the event' },
  );
  return seen;
}

/** The event of the API's own arrives as any other. */
async function sendTestEvent({ apiUrl, projectId, personalApiKey }: Connection): Promise<void> {
  const path = `${apiUrl}/api/projects/${projectId}`;
  const headers = { authorization: `Bearer ${personalApiKey}` };
  const sent = await fetch(`${path}/test_event/`, { method: 'POST', headers });
  const { uuid } = (await sent.json()) as { uuid: string };
  await eventually(async () => (await fetch(`${path}/events/${uuid}/`, { headers })).status === 200, {
    what: 'the arrival of the test event',
  });
}

/** The README's lines from the first event to the first flag, as they stand there, with the addresses and keys of this system. */
async function tryReadme(connection: Connection): Promise<string[]> {
  const readme = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8');
  const [, newcomer = ''] = /^## A first event in one minute\n([\s\S]*?)^## When to use it/m.exec(readme) ?? [];
  const lines = [...newcomer.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .map(([, block]) => String(block))
    .join('')
    .replaceAll('http://127.0.0.1:8010', connection.apiUrl)
    .replaceAll('http://127.0.0.1:8000', connection.ingestUrl)
    .replaceAll('projects/1/', `projects/${connection.projectId}/`)
    .replaceAll('--environment 1', `--environment ${connection.environmentId}`)
    .replaceAll('phx_…', connection.personalApiKey)
    .replaceAll('phc_…', connection.projectApiKey)
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => /^(curl|npx) /.test(line));
  // Whoever names a database means that one; the tests do.
  const npx = `env -u DATABASE_URL -u KAFKA_BROKERS -u REDIS_URL MILLRACE_DATA_DIR='${directory}' npx `;
  const answers: string[] = [];
  for (const line of lines) {
    await eventually(
      async () => {
        const answer = await paste(line.replace('curl ', 'curl -s ').replace('npx ', npx));
        // An event, and a flag, are seen a moment after they were made.
        if (line.includes('/events/')) expect(answer).toContain('"distinct_id":"ada"');
        if (line.includes('/flags/?')) expect(JSON.parse(answer).flags).toHaveProperty('new-checkout');
        answers.push(answer);
      },
      { what: `what the README promises of ${line}` },
    );
  }
  return answers;
}

/** The script that the demo shop loads. */
async function libraryOf({ shopUrl }: Connection): Promise<string> {
  const page = await (await fetch(shopUrl)).text();
  const [, address = ''] = /<script src="([^"]+\/array\.js)"/.exec(page) ?? [];
  const response = await fetch(address);
  expect([response.status, response.headers.get('content-encoding')]).toEqual([200, 'gzip']);
  return response.text();
}

const flagsOf = (answer: unknown) =>
  (answer as { flags: Record<string, { enabled: boolean; variant?: string }> }).flags;

const nothingRuns = () =>
  eventually(() => findProcesses(directory).length === 0, { what: 'the end of all processes of the system' });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'millrace start ü-'));
  // So that the database lies in it, and its server is found by it, when the tests run as root.
  chmodSync(directory, 0o755);
  taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  takenPort = (taken.address() as AddressInfo).port;
});

afterEach(async () => {
  for (const command of commands.splice(0)) command.kill('SIGKILL');
  await nothingRuns();
});

afterAll(() => {
  taken.close();
  removePostgresFiles(join(directory, 'postgres'));
  rmSync(directory, { recursive: true, force: true });
});

test('npm start: from nothing to a stored event, with the wanted ports taken; Ctrl-C leaves the data and nothing else', async () => {
  const command = start();
  const connection = await command.ready();

  expect(statSync(join(directory, 'connection.json')).mode & 0o777).toBe(0o600);
  expect(Object.keys(connection).sort()).toEqual(
    [
      ...['apiUrl', 'environmentId', 'ingestUrl', 'organizationId', 'personalApiKey', 'projectApiKey', 'projectId'],
      ...['settings', 'shopUrl'],
    ].sort(),
  );
  expect(findProcesses(join(directory, 'build/'))).toHaveLength(1);
  expect([connection.ingestUrl, connection.apiUrl]).not.toContain(`http://127.0.0.1:${takenPort}`);
  expect((await libraryOf(connection)).slice(0, 2000)).toMatch(/^\/\/#.*\n\(function.*_POSTHOG_REMOTE_CONFIG/s);
  await sendAndSee(command);
  await sendTestEvent(connection);
  // Tried again: a busy machine may not answer within the time that flags wait for the database.
  await eventually(
    async () =>
      expect(flagsOf(JSON.parse(await paste(String(curlLines(command)[2]))))).toMatchObject({
        'new-home-page': { enabled: true },
        'button-color': { enabled: true, variant: expect.stringMatching(/^(control|green|orange)$/) },
        'staff-tools': { enabled: false },
      }),
    { what: 'the flags of the demo' },
  );
  const [sent, seenToo, made, asked, changed, explained, secret, ...others] = await tryReadme(connection);
  expect([sent, JSON.parse(String(seenToo)).results[0]]).toEqual([
    '{"status":"Ok"}',
    expect.objectContaining({ event: 'hello', distinct_id: 'ada' }),
  ]);
  expect(JSON.parse(String(made))).toMatchObject({ key: 'new-checkout', active: true });
  const flags = flagsOf(JSON.parse(String(asked)));
  expect(Object.keys(flags).sort()).toEqual(['button-color', 'new-checkout', 'new-home-page', 'staff-tools']);
  expect(flags['new-checkout']).toMatchObject({ enabled: true });
  expect(changed).toMatch(/^rollout +20 %$/m);
  expect(explained).toMatch(/^ {2}rollout 20 %: hash 0\.\d+$/m);
  expect(secret).toMatch(/^secret key +phs_\w+$/m);
  expect(others).toEqual([]);

  expect(await paste(printedCommand(command))).toMatch(/^new-checkout +- +true +active +20 %/m);

  const second = start();
  expect(await second.ended).toBe(1);
  expect(second.output().trim().split('\n')).toEqual([expect.stringMatching(/already running/)]);
  expect(existsSync(join(directory, 'connection.json'))).toBe(true);

  const seen = await paste(String(curlLines(command)[1]));
  command.kill('SIGINT');
  expect(await command.ended).toBe(0);
  expect(existsSync(join(directory, 'connection.json'))).toBe(false);
  await nothingRuns();

  const again = start();
  expect(await again.ready()).toMatchObject({
    organizationId: connection.organizationId,
    projectApiKey: connection.projectApiKey,
    personalApiKey: connection.personalApiKey,
  });
  expect(await paste(String(curlLines(again)[1]))).toBe(seen);
}, 600_000);

test('services that crash come back; a system that is killed leaves nothing running and starts again', async () => {
  const command = start();
  await command.ready();
  const [services] = findProcesses(join(directory, 'build/all-in-one.mjs'));
  process.kill(Number(services), 'SIGKILL');
  await eventually(() => command.output().includes('! The services process was terminated by SIGKILL'), {
    what: 'noticing the crash',
  });
  await eventually(async () => (await paste(String(curlLines(command)[0]))) === '{"status":"Ok"}', {
    what: 'coming back',
  });

  command.kill('SIGKILL');
  await nothingRuns();
  expect(existsSync(join(directory, 'connection.json'))).toBe(true);

  const again = start();
  await again.ready();
  await sendAndSee(again);
}, 300_000);

test('npm start -- --fresh: empty data, and those of before stay beside', async () => {
  const command = start();
  const former = await command.ready();
  await sendAndSee(command);
  command.kill('SIGTERM');
  expect(await command.ended).toBe(0);

  const fresh = start({}, ['--fresh']);
  expect((await fresh.ready()).projectApiKey).not.toBe(former.projectApiKey);
  expect(await paste(String(curlLines(fresh)[1]))).not.toContain('"distinct_id":"you"');
  const [aside = ''] = readdirSync(directory).filter((name) => name.startsWith('before-'));
  expect(fresh.output()).toContain(join(directory, aside));
  expect(readFileSync(join(directory, aside, 'demo.json'), 'utf8')).toContain(former.projectApiKey);
  removePostgresFiles(join(directory, aside, 'postgres'));
}, 300_000);

test('npm start -- --kafka: the same on a broker and Redis', async () => {
  const { kafkaBrokers, redisUrl } = testServers();
  const servers = { KAFKA_BROKERS: kafkaBrokers.join(','), REDIS_URL: redisUrl };
  const command = start({ ...servers, TOPIC_PREFIX: `t-${randomUUID()}.` }, ['--kafka']);
  await command.ready();
  await sendAndSee(command);
  command.kill('SIGTERM');
  expect(await command.ended).toBe(0);
}, 300_000);

test('an option nobody knows is one line', async () => {
  const command = start({}, ['--kafak']);
  expect(await command.ended).toBe(1);
  expect(command.output().trim()).toMatch(/^✗ Unknown option --kafak/);
});
