import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@millrace/testing';
import { removePostgresFiles } from '../postgres/postgres-files.ts';
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
    options,
  );
  commands.push(command);
  return command;
};
const curlLines = (command: StartCommand) =>
  [...command.output().matchAll(/^ {2}(.*curl .*)$/gm)].map(([, line]) => String(line));

function testServer(variable: string): string {
  const address = process.env[variable];
  if (!address) throw new Error(`${variable} is not set. Run the tests with \`npm test\`.`);
  return address;
}

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

/** The README's lines for a first flag, with the addresses and keys of this system. */
async function tryReadmeFlags(connection: Connection): Promise<unknown[]> {
  const readme = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8');
  const [, section = ''] = /^## A first flag in one minute\n([\s\S]*?)^## /m.exec(readme) ?? [];
  const lines = section
    .replaceAll('http://127.0.0.1:8010', connection.apiUrl)
    .replaceAll('http://127.0.0.1:8000', connection.ingestUrl)
    .replaceAll('projects/1/', `projects/${connection.projectId}/`)
    .replaceAll('phx_…', connection.personalApiKey)
    .replaceAll('phc_…', connection.projectApiKey)
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.startsWith('curl '));
  const answers: unknown[] = [];
  for (const line of lines) {
    answers.push(
      await eventually(
        async () => {
          const answer = JSON.parse(await paste(line.replace('curl ', 'curl -s ')));
          // The gateway hears of a flag a moment after it was made.
          if ('flags' in answer) expect(answer.flags).toHaveProperty('new-checkout');
          return answer;
        },
        { what: 'the new flag' },
      ),
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
      'shopUrl',
    ].sort(),
  );
  expect([connection.ingestUrl, connection.apiUrl]).not.toContain(`http://127.0.0.1:${takenPort}`);
  expect((await libraryOf(connection)).slice(0, 2000)).toMatch(/^\/\/#.*\n\(function.*_POSTHOG_REMOTE_CONFIG/s);
  const seen = await sendAndSee(command);
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
  const [made, asked] = await tryReadmeFlags(connection);
  expect(made).toMatchObject({ key: 'new-checkout', active: true });
  expect(Object.keys(flagsOf(asked)).sort()).toEqual(['button-color', 'new-checkout', 'new-home-page', 'staff-tools']);
  expect(flagsOf(asked)['new-checkout']).toMatchObject({ enabled: true });

  const second = start();
  expect(await second.ended).toBe(1);
  expect(second.output().trim().split('\n')).toEqual([expect.stringMatching(/already running/)]);
  expect(existsSync(join(directory, 'connection.json'))).toBe(true);

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
}, 300_000);

test('a service that crashes comes back; a system that is killed leaves nothing running and starts again', async () => {
  const command = start();
  await command.ready();
  const [gateway] = findProcesses(join(directory, 'build/ingest-gateway.mjs'));
  process.kill(Number(gateway), 'SIGKILL');
  await eventually(() => command.output().includes('! ingest-gateway was ended by SIGKILL'), {
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

test('npm start -- --kafka: the same on a broker and Redis', async () => {
  const servers = { KAFKA_BROKERS: testServer('KAFKA_BROKERS'), REDIS_URL: testServer('REDIS_URL') };
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
