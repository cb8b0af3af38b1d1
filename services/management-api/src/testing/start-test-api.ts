import { randomBytes } from 'node:crypto';
import { beginSession, createChallengeLookup, createPasswords } from '@millrace/accounts';
import { topicNames } from '@millrace/contracts';
import { createDatabase, createReadPool, createSqlDatabase, type Database, type Sql } from '@millrace/db';
import { createPostgresLog } from '@millrace/event-log';
import { startHttpServer } from '@millrace/http';
import { createEventStore, createPostgresEngine, createSqlParser } from '@millrace/insights';
import {
  createHealth,
  createLogger,
  createMetrics,
  createSecretBox,
  type Logger,
  type Metrics,
} from '@millrace/runtime';
import { createInProcessStore } from '@millrace/runtime/cache';
import type { Mailer } from '@millrace/runtime/mail';
import { createTestDatabase } from '@millrace/testing';
import { createSearches } from '../access/searches.ts';
import { createQueryRunner } from '../analytics/query/query-runner.ts';
import { type AppDeps, createApp } from '../app/app.ts';
import { createDestinationSecrets } from '../deliveries/batch-exports/destinations.ts';
import { createPayloadSecrets } from '../flags/feature-flags/payloads.ts';
import { createInviteMailing } from '../identity/invites/mailing.ts';
import { createOidcSignIn } from '../identity/oidc/oidc-sign-in.ts';
import { createAccountMailing } from '../identity/sign-in/account-mailing.ts';
import { createSecretEncryption } from '../identity/sign-in/secret-encryption.ts';
import { createLive, type Live } from '../operations/live/live.ts';

export interface TestResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at answers of every shape
  body: any;
}

export interface TestApi {
  url: string;
  database: Database;
  databaseUrl: string;
  /**
   * Sends a GET request.
   * @param key a personal API key, or a session in the format of `sessionKey`. Without a key, the request is anonymous.
   */
  get(path: string, key?: string): Promise<TestResponse>;
  /** Sends a request. @param body the request body, which is sent as JSON. If undefined, the request has no body. */
  send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD',
    path: string,
    options: { key?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<TestResponse>;
  /** A logger that prints errors. A test that expects errors captures them (`keepLogs`). */
  logger: Logger;
  /**
   * Counts the SQL statements that the requests cause. Returns the minimum of three runs, because a run may include
   * extra statements that record a key's last use or look the key up again.
   */
  statementsOf(requests: () => Promise<unknown>): Promise<number>;
  mailsSent(): Promise<void>;
  stop(): Promise<void>;
}

export const testSecretBox = createSecretBox(randomBytes(32).toString('base64'));

/** Secrets for live events tokens. The first one signs tokens, and both are accepted. */
export const testTokenSecrets: [string, string] = ['secret of a test', 'former secret of a test'];

export const noLimits: AppDeps['limits'] = {
  requestsPerMinute: 0,
  requestsPerHour: 0,
  wrongKeysPerMinute: 0,
  signUpsPerMinute: 0,
  userChangesPerMinute: 0,
  signInFailures: 0,
  signInFailuresOfAccount: 0,
  secondFactorFailures: 0,
  anonymousRequestsPerMinute: 0,
  resetsPerDay: 0,
};

interface TestApiOptions {
  mailer?: Mailer;
  statementTimeoutMs?: number;
  /**
   * URL of another test API's database. The other test API creates and drops the database. By default, each test API
   * has its own database.
   */
  databaseUrl?: string | undefined;
  openLive?: (parts: { url: string; sql: Sql; logger: Logger; metrics: Metrics }) => Live;
}

function liveWithoutLog(parts: { sql: Sql; logger: Logger; metrics: Metrics }): Live {
  const limits = { streamsPerUser: 10, streamsPerProject: 50, streamsPerProcess: 1000 };
  return createLive({ ...parts, ...limits, log: null, topics: topicNames(), topicPrefix: '', publishes: true });
}

const searchConnections = 2;

/**
 * Starts the management API with its own database, on a free port. Checks every response against its declared schema.
 */
export async function startTestApi(
  overrides: Partial<AppDeps> = {},
  { statementTimeoutMs = 30_000, databaseUrl, openLive = liveWithoutLog, mailer }: TestApiOptions = {},
): Promise<TestApi> {
  const testDatabase = databaseUrl ? { url: databaseUrl, drop: async () => {} } : await createTestDatabase();
  const logger = createLogger('test', 'error');
  const connections = { url: testDatabase.url, logger, preparesQueries: true, statementTimeoutMs };
  const database = createDatabase({ ...connections, poolSize: 5 });
  const searchDatabase = createSqlDatabase({ ...connections, poolSize: searchConnections });
  const reader = createReadPool({ url: testDatabase.url, logger, poolSize: searchConnections });
  const ofPostgres = createEventStore(createPostgresEngine(reader));
  const parser = createSqlParser();
  const metrics = createMetrics({ withProcessMetrics: false });
  let statements = 0;
  const count = () => void statements++;
  const sql = countingSql(database.sql, count);
  const live = openLive({ url: testDatabase.url, sql, logger, metrics });
  const log = createPostgresLog({ database, logger });
  const topics = topicNames();
  await log.ensureTopics([{ topic: topics.deadLetter, partitions: 1 }]);
  const keyValue = createInProcessStore();
  const parts = usualParts({ sql, transaction: database.transaction, logger, mailer });
  const { server, url, setApp } = await listen();
  const app = createApp({
    deadLetterLog: { log, topics },
    sql,
    live,
    transaction: (work) => database.transaction((tx) => work(countingSql(tx, count))),
    searches: createSearches({ sql: countingSql(searchDatabase.sql, count), connections: searchConnections }),
    externalEventStore: null,
    addresses: { publicAppUrl: undefined, publicApiUrl: 'https://millrace.test' },
    parser,
    queryRunner: createQueryRunner({
      ...{ sql, keyValue, logger, parser, events: overrides.externalEventStore?.events ?? ofPostgres },
      searches: createSearches({ sql, connections: searchConnections }),
      maxMs: 20_000,
    }),
    logger,
    metrics,
    health: createHealth(metrics),
    checkResponses: true,
    keyValue,
    publicUrl: url,
    ...parts,
    ...overrides,
  });
  setApp(app);

  async function request(
    method: string,
    path: string,
    { key, body, headers = {} }: { key?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<TestResponse> {
    const response = await fetch(path.startsWith('http') ? path : url + path, {
      method,
      headers: {
        ...(key !== undefined && credentialHeaders(key, url)),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'manual',
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  }

  return {
    url,
    database,
    databaseUrl: testDatabase.url,
    logger,
    get: (path, key) => request('GET', path, key === undefined ? {} : { key }),
    send: request,
    async statementsOf(requests) {
      const counts: number[] = [];
      while (counts.length < 3) {
        const before = statements;
        await requests();
        counts.push(statements - before);
      }
      return Math.min(...counts);
    },
    mailsSent: () => parts.accountMailing.drain(),
    async stop() {
      await live.stop();
      await server.stop();
      await log.close();
      await Promise.all([reader.stop(), parser.stop()]);
      await searchDatabase.stop();
      await database.stop();
      await testDatabase.drop();
    },
  };
}

/** Starts listening before the app exists, because the app's public URL contains the port. */
async function listen() {
  let app: ReturnType<typeof createApp> | undefined;
  const server = await startHttpServer((request, response) => app?.(request, response), {
    port: 0,
    host: '127.0.0.1',
    setting: 'API_PORT',
    drainTimeoutMs: 1000,
  });
  const setApp = (newApp: ReturnType<typeof createApp>) => {
    app = newApp;
  };
  return { server, url: `http://127.0.0.1:${server.port}`, setApp };
}

function usualParts(deps: Pick<Database, 'sql' | 'transaction'> & { logger: Logger; mailer: Mailer | undefined }) {
  const { sql, logger } = deps;
  return {
    // No server listens on this port. Tests that use DNS or send emails start their own servers.
    lookUpChallenge: createChallengeLookup({ servers: ['127.0.0.1:9'], timeoutMs: 100 }),
    inviteMailing: createInviteMailing({ sql, logger, patienceMs: 1000, mailsPerHour: 0 }),
    destinationSecrets: createDestinationSecrets(testSecretBox, { mayBePlain: false }),
    payloadSecrets: createPayloadSecrets(testSecretBox, { mayBePlain: false }),
    secretEncryption: createSecretEncryption(testSecretBox, { mayBePlain: false }),
    accountMailing: createAccountMailing({ ...deps, publicUrl: 'https://analytics.example/' }),
    withSignIn: true,
    installedProviders: new Map(),
    // The providers in tests are on localhost.
    oidc: createOidcSignIn({ mayBePrivate: true }),
    // Use the lowest possible scrypt cost, because strong hashing would only slow the tests down.
    passwords: createPasswords({ cost: 4 }),
    maxSubscriptions: 0,
    limits: noLimits,
    tokenSecrets: () => testTokenSecrets,
  };
}

function countingSql<S extends Sql>(inner: S, count: () => void): S {
  return {
    ...inner,
    query: (text: string, values?: unknown[]) => {
      count();
      return inner.query(text, values);
    },
  };
}

/**
 * Returns the `key` argument for requests with a session. These requests appear to come from a page of the
 * installation.
 */
export function sessionKey(secret: string): string {
  return `${sessionCookie}=${secret}`;
}

/** Creates a session for a user. @returns the `key` argument for requests with this session */
export async function signInAs({ database }: Pick<TestApi, 'database'>, userId: number): Promise<string> {
  const session = { userId, method: 'link', secondFactor: null, address: '127.0.0.1', browser: 'test' } as const;
  return sessionKey(await database.transaction((tx) => beginSession(tx, session)));
}

const sessionCookie = 'millrace_session';

function credentialHeaders(key: string, origin: string): Record<string, string> {
  return key.startsWith(`${sessionCookie}=`) ? { cookie: key, origin } : { authorization: `Bearer ${key}` };
}

export async function readAllPages<T>(api: TestApi, path: string, key: string): Promise<T[]> {
  const results: T[] = [];
  for (let next: string | null = path; next !== null; ) {
    const { status, body } = await api.get(next, key);
    if (status !== 200) throw new Error(`A page responded with ${status}: ${JSON.stringify(body)}`);
    results.push(...body.results);
    next = body.next;
  }
  return results;
}
