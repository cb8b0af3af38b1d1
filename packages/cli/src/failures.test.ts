import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { runCli } from './program.ts';

/** A server that is not part of Millrace, at a URL where a command expects a Millrace service. */
let otherServer: Server;
let testDatabase: TestDatabase;
let directory: string;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  directory = mkdtempSync(join(tmpdir(), 'millrace-failures-'));
  writeFileSync(
    join(directory, 'events.jsonl'),
    '{"event":"a","distinct_id":"b","timestamp":"2026-01-01T00:00:00Z"}\n',
  );
  otherServer = createServer((_request, response) => void response.writeHead(404).end('<h1>Not here</h1>'));
  otherServer.listen(0, '127.0.0.1');
  await once(otherServer, 'listening');
});
afterAll(async () => {
  otherServer.close();
  rmSync(directory, { recursive: true });
  await testDatabase.drop();
});

async function run(args: string[], env: Record<string, string> = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const exitCode = await runCli(args, {
    env,
    out: { write: (text) => out.push(text) },
    err: { write: (text) => err.push(text) },
  });
  return { exitCode, out: out.join(''), err: err.join('') };
}

const addresses = () => {
  const base = new URL(testDatabase.url);
  const changed = (change: (url: URL) => void) => {
    const url = new URL(base);
    change(url);
    return url.toString();
  };
  return {
    DATABASE: testDatabase.url,
    WRONG_PASSWORD: changed((url) => (url.password = 'wrong')),
    WRONG_USER: changed((url) => (url.username = 'nobody_here')),
    WRONG_NAME: changed((url) => (url.pathname = '/no_such_database')),
    STRANGER: `http://127.0.0.1:${(otherServer.address() as AddressInfo).port}`,
    FILE: join(directory, 'events.jsonl'),
  };
};

const unreachable = 'http://127.0.0.1:2';
const noApi = { API_URL: '', PERSONAL_API_KEY: '' };
const api = { API_URL: unreachable, PERSONAL_API_KEY: 'phx_x' };
const stored = { DATABASE_URL: 'DATABASE' };

/**
 * The command, its environment, its exit code, and the beginning of its error message. Words in capitals are replaced
 * with `addresses`.
 */
const cases: [string, Record<string, string>, number, string][] = [
  [
    'org list',
    {},
    2,
    '--database-url: Pass the URL of the database, or set DATABASE_URL. Neither is needed in a clone where `npm start` is',
  ],
  ['doctor', {}, 2, '--database-url: Pass the URL of the database'],
  ['migrate', {}, 2, '--database-url: Pass the URL of the database'],
  [
    'flags list',
    noApi,
    2,
    '--api-url: Pass the URL of the management API, or set API_URL. Neither is needed in a clone',
  ],
  ['flags list --api-url http://127.0.0.1:2', {}, 2, '--personal-api-key: Pass a personal API key'],
  ['snippet', {}, 2, '--host: Pass the URL of the gateway, or set INGEST_URL'],
  ['snippet --host http://127.0.0.1:2', {}, 2, '--project-api-key: Pass the project API key of an environment'],
  ['import FILE', {}, 2, '--host: Pass the URL of the ingest host, or set INGEST_URL'],
  ['import FILE --host http://127.0.0.1:2', {}, 2, '--project-api-key: Pass the API key of the project'],
  ['import /nowhere', { INGEST_URL: unreachable, PROJECT_API_KEY: 'phc_x' }, 2, '<file>: /nowhere does not exist.'],
  ['tail', stored, 2, 'EVENT_LOG: Set the event log that the services use'],
  ['dead-letters list', stored, 2, 'EVENT_LOG: Set the event log that the services use'],
  ['offsets list', stored, 2, 'EVENT_LOG: Set the event log that the services use'],
  ['restore finish', stored, 2, 'EVENT_LOG: Set the event log that the services use'],
  ['tail', { EVENT_LOG: 'postgres' }, 2, '--database-url: Pass the URL of the database'],
  ['org list --database-url localhost:5432', {}, 2, '--database-url: Must be a URL such as postgresql://'],
  ['flags list --api-url localhost', noApi, 2, '--api-url: Must be a URL such as https://'],
  ['snippet --host localhost', {}, 2, '--host: Must be a URL such as https://'],
  ['import FILE --host localhost', {}, 2, '--host: Must be a URL such as https://'],
  ['tail', { EVENT_LOG: 'rabbit' }, 2, 'EVENT_LOG'],
  [
    'org list --database-url postgresql://u:secret@127.0.0.1:2/x',
    {},
    1,
    '--database-url: Could not connect to the database (ECONNREFUSED)',
  ],
  [
    'bootstrap --email a@example.com --database-url postgresql://u:secret@127.0.0.1:2/x',
    {},
    1,
    '--database-url: Could not connect to the database',
  ],
  [
    'org list --database-url postgresql://u:secret@nowhere.invalid/x',
    {},
    1,
    '--database-url: Could not connect to the database (E',
  ],
  ['flags list', api, 1, '--api-url: Could not reach the management API at http://127.0.0.1:2 (connection failed'],
  [
    'snippet --host http://127.0.0.1:2 --project-api-key phc_x',
    {},
    1,
    '--host: Could not reach the gateway at http://127.0.0.1:2 (',
  ],
  [
    'snippet --pin --host http://127.0.0.1:2 --project-api-key phc_x',
    {},
    1,
    '--host: Could not reach the gateway at http://127.0.0.1:2 (',
  ],
  [
    'tail',
    { EVENT_LOG: 'kafka', KAFKA_BROKERS: '127.0.0.1:2' },
    1,
    'EVENT_LOG=kafka (Kafka at 127.0.0.1:2, from KAFKA_BROKERS): ',
  ],
  [
    'dead-letters list',
    { ...stored, EVENT_LOG: 'kafka', KAFKA_BROKERS: '127.0.0.1:2' },
    1,
    'EVENT_LOG=kafka (Kafka at 127.0.0.1:2',
  ],
  [
    'tail',
    { EVENT_LOG: 'postgres', DATABASE_URL: 'postgresql://u:secret@127.0.0.1:2/x' },
    1,
    'EVENT_LOG=postgres (PostgreSQL): ',
  ],
  [
    'flags list --api-url STRANGER',
    { PERSONAL_API_KEY: 'phx_x' },
    1,
    '--api-url: STRANGER is not a Millrace management API (it responded with 404).',
  ],
  [
    'snippet --host STRANGER --project-api-key phc_x',
    {},
    1,
    '--host: STRANGER is not a Millrace gateway. It responded with 404',
  ],
  ['import FILE --host STRANGER --project-api-key phc_x', {}, 1, '--host: STRANGER responded with 404'],
  ['org list', { DATABASE_URL: 'WRONG_PASSWORD' }, 1, '--database-url: PostgreSQL rejected the login: '],
  [
    'offsets list',
    { DATABASE_URL: 'WRONG_PASSWORD', EVENT_LOG: 'postgres' },
    1,
    '--database-url: PostgreSQL rejected the login: ',
  ],
  ['org list', { DATABASE_URL: 'WRONG_USER' }, 1, '--database-url: PostgreSQL rejected the login: '],
  ['org list', { DATABASE_URL: 'WRONG_NAME' }, 1, '--database-url: Could not open the database: '],
  [
    'offsets list',
    { DATABASE_URL: 'WRONG_NAME', EVENT_LOG: 'postgres' },
    1,
    '--database-url: Could not open the database: ',
  ],
  ['migrate', { DATABASE_URL: 'WRONG_PASSWORD' }, 1, '--database-url: PostgreSQL rejected the login: '],
  ['flag list', {}, 2, "unknown command 'flag' (Did you mean flags?)"],
  ['flags lst', {}, 2, "unknown command 'lst' (Did you mean list?)"],
  ['org list --databaseurl x', {}, 2, "unknown option '--databaseurl' (Did you mean --database-url?)"],
  ['flags list --projet 1', {}, 2, "unknown option '--projet' (Did you mean --project?)"],
  [
    'flags set x --rollout many',
    api,
    2,
    "option '--rollout <percentage>' argument 'many' is invalid. Must be a number from 0 to 100.",
  ],
  ['key roll', stored, 2, "missing required argument 'id'"],
  ['org list everything', stored, 2, 'too many arguments'],
  ['environment show --environment 99', stored, 1, '--environment: '],
  ['project show --project 99', stored, 1, '--project: Project not found.'],
  ['persons show --environment 99 ada', stored, 1, '--environment: '],
  ['key revoke 99', stored, 1, '<id>: Personal API key not found.'],
  ['restriction remove 99', stored, 1, '<id>: Restriction not found.'],
  [
    'dead-letters show events.live/0/1',
    { ...stored, EVENT_LOG: 'postgres' },
    1,
    'EVENT_LOG=postgres (PostgreSQL): The event log has no topic events.',
  ],
  ['offsets accept events.live/0 --from start', { ...stored, EVENT_LOG: 'postgres' }, 1, '<partition>: '],
  ['offsets forget postgres/none', stored, 1, '<log>: '],
  ['environment secret-key show --environment 99', stored, 1, '--environment: '],
  ['environment secret-key create --environment 99', stored, 1, '--environment: '],
];

test.each(cases)('`millrace %s` with %j exits with code %d: %s', async (words, env, exitCode, beginning) => {
  const known = addresses();
  const filled = (text: string) =>
    Object.entries(known).reduce(
      (filling, [name, value]) => filling.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), value),
      text,
    );
  const ownEnv = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)]));
  const failed = await run(words.split(' ').map(filled), ownEnv);
  const line = failed.err.trimEnd().split('\n').at(-1) ?? '';
  expect({ exitCode: failed.exitCode, line: line.slice(0, filled(beginning).length + 7) }).toEqual({
    exitCode,
    line: `error: ${filled(beginning)}`,
  });
  expect(failed.err).not.toContain('secret@');
  const asJson = await run([...words.split(' ').map(filled), '--json'], ownEnv);
  const output = asJson.err
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each) as object);
  expect(output.at(-1)).toEqual({ error: line.slice('error: '.length), exitCode });
});
