import { randomBytes } from 'node:crypto';
import { beginSession, createChallengeLookup, createPasswords } from '@millrace/accounts';
import { topicNames } from '@millrace/contracts';
import { createDatabase, createReader, createSqlDatabase, type Database, type Sql } from '@millrace/db';
import { createPostgresLog } from '@millrace/event-log';
import { serve } from '@millrace/http';
import { createEventStore, createSqlParser, postgresEngine } from '@millrace/insights';
import {
  createHealth,
  createLogger,
  createMetrics,
  createSecretBox,
  type Logger,
  type Metrics,
} from '@millrace/runtime';
import { createInProcessKeyValue } from '@millrace/runtime/cache';
import type { Mailer } from '@millrace/runtime/mail';
import { createTestDatabase } from '@millrace/testing';
import { createSearches } from '../access/searches.ts';
import { createQuestions } from '../analytics/query/questions.ts';
import { type AppDeps, createApp } from '../app/app.ts';
import { createDestinationSecrets } from '../deliveries/batch-exports/destinations.ts';
import { createPayloadSecrets } from '../flags/feature-flags/payloads.ts';
import { createInviteMailing } from '../identity/invites/mailing.ts';
import { createOidcSignIn } from '../identity/oidc/oidc-sign-in.ts';
import { createAccountMailing } from '../identity/sign-in/account-mailing.ts';
import { createSealedTexts } from '../identity/sign-in/sealed-texts.ts';
import { createLive, type Live } from '../operations/live/live.ts';

export interface TestAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at answers of every shape
  body: any;
}

export interface TestApi {
  url: string;
  database: Database;
  databaseUrl: string;
  /** @param key personal API key, or a session as `sessionKey` has it; none for an anonymous request. */
  get(path: string, key?: string): Promise<TestAnswer>;
  /** @param body sent as JSON, unless undefined. */
  send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD',
    path: string,
    options: { key?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<TestAnswer>;
  /** Errors are printed: a test that provokes some keeps them (`keepLogs`). */
  logger: Logger;
  /** How many SQL statements requests send, the least of three times: a key that is noted as used, or read again, comes in between. */
  statementsOf(requests: () => Promise<unknown>): Promise<number>;
  /** Resolves when no mail about an account is on its way. */
  mailsSent(): Promise<void>;
  stop(): Promise<void>;
}

/** Opens the secrets that a test API has stored. */
export const testSecretBox = createSecretBox(randomBytes(32).toString('base64'));

/** The first signs, both are accepted. */
export const testTokenSecrets: [string, string] = ['secret of a test', 'former secret of a test'];

/** Every limit of requests switched off. */
export const noLimits: AppDeps['limits'] = {
  requestsPerMinute: 0,
  requestsPerHour: 0,
  wrongKeysPerMinute: 0,
  signUpsPerMinute: 0,
  userChangesPerMinute: 0,
  signInFailures: 0,
  signInFailuresOfAccount: 0,
  secondFactorFailures: 0,
  signInQuestionsPerMinute: 0,
  resetsPerDay: 0,
};

interface TestApiOptions {
  /** Sends what is mailed about accounts. */
  mailer?: Mailer;
  statementTimeoutMs?: number;
  /** Of the database of another test API, which goes with that one; otherwise it has its own. */
  databaseUrl?: string | undefined;
  /** Live events of a test that has a log. */
  openLive?: (parts: { url: string; sql: Sql; logger: Logger; metrics: Metrics }) => Live;
}

/** No test but those of live events has a log. */
function liveWithoutLog(parts: { sql: Sql; logger: Logger; metrics: Metrics }): Live {
  const limits = { streamsPerUser: 10, streamsPerProject: 50, streamsPerProcess: 1000 };
  return createLive({ ...parts, ...limits, log: null, topics: topicNames(), topicPrefix: '', publishes: true });
}

const searchConnections = 2;

/** The management API on a database of its own and a free port. Every answer is checked against its declared schema. */
export async function startTestApi(
  overrides: Partial<AppDeps> = {},
  { statementTimeoutMs = 30_000, databaseUrl, openLive = liveWithoutLog, mailer }: TestApiOptions = {},
): Promise<TestApi> {
  const testDatabase = databaseUrl ? { url: databaseUrl, drop: async () => {} } : await createTestDatabase();
  const logger = createLogger('test', 'error');
  const connections = { url: testDatabase.url, logger, preparesQueries: true, statementTimeoutMs };
  const database = createDatabase({ ...connections, poolSize: 5 });
  const searchDatabase = createSqlDatabase({ ...connections, poolSize: searchConnections });
  const reader = createReader({ url: testDatabase.url, logger, poolSize: searchConnections });
  const parser = createSqlParser();
  const metrics = createMetrics({ withProcessMetrics: false });
  let statements = 0;
  const count = () => {
    statements += 1;
  };
  const sql = countingSql(database.sql, count);
  const live = openLive({ url: testDatabase.url, sql, logger, metrics });
  const log = createPostgresLog({ database, logger });
  const topics = topicNames();
  await log.ensureTopics([{ topic: topics.deadLetter, partitions: 1 }]);
  const keyValue = createInProcessKeyValue();
  const parts = usualParts({ sql, transaction: database.transaction, logger, mailer });
  const { server, url, answerWith } = await listen();
  const app = createApp({
    deadLetters: { log, topics },
    sql,
    live,
    transaction: (work) => database.transaction((tx) => work(countingSql(tx, count))),
    searches: createSearches({ sql: countingSql(searchDatabase.sql, count), connections: searchConnections }),
    otherStore: null,
    addresses: { publicAppUrl: undefined, publicApiUrl: 'https://millrace.test' },
    parser,
    questions: createQuestions({
      ...{ sql, keyValue, logger, parser, events: createEventStore(postgresEngine(reader)) },
      turns: createSearches({ sql, connections: searchConnections }),
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
  answerWith(app);

  async function request(
    method: string,
    path: string,
    { key, body, headers = {} }: { key?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<TestAnswer> {
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
    mailsSent: () => parts.accountMailing.settle(),
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

/** Listens before there is an app: the port is part of the app's public address. */
async function listen() {
  let app: ReturnType<typeof createApp> | undefined;
  const server = await serve((request, response) => app?.(request, response), {
    port: 0,
    host: '127.0.0.1',
    setting: 'API_PORT',
    drainTimeoutMs: 1000,
  });
  const answerWith = (answering: ReturnType<typeof createApp>) => {
    app = answering;
  };
  return { server, url: `http://127.0.0.1:${server.port}`, answerWith };
}

/** What most tests are not about. */
function usualParts(deps: Pick<Database, 'sql' | 'transaction'> & { logger: Logger; mailer: Mailer | undefined }) {
  const { sql, logger } = deps;
  return {
    // Nobody answers there: a test that looks something up or sends a mail brings its own server.
    lookUpChallenge: createChallengeLookup({ servers: ['127.0.0.1:9'], timeoutMs: 100 }),
    inviteMailing: createInviteMailing({ sql, logger, patienceMs: 1000, mailsPerHour: 0 }),
    destinationSecrets: createDestinationSecrets(testSecretBox, { mayBePlain: false }),
    payloadSecrets: createPayloadSecrets(testSecretBox, { mayBePlain: false }),
    sealedTexts: createSealedTexts(testSecretBox, { mayBePlain: false }),
    accountMailing: createAccountMailing({ ...deps, publicUrl: 'https://analytics.example/' }),
    withSignIn: true,
    installed: new Map(),
    // Providers of tests are on this machine.
    oidc: createOidcSignIn({ mayBePrivate: true }),
    // As cheap as scrypt can be: what it costs is no matter here.
    passwords: createPasswords({ cost: 4 }),
    maxSubscriptions: 0,
    limits: noLimits,
    tokenSecrets: () => testTokenSecrets,
  };
}

/** The same, told of every query before it is sent. */
function countingSql<S extends Sql>(inner: S, count: () => void): S {
  return {
    ...inner,
    query: (text: string, values?: unknown[]) => {
      count();
      return inner.query(text, values);
    },
  };
}

/** What `key` is for a session: the request then comes as from a page of the installation. */
export function sessionKey(secret: string): string {
  return `${sessionCookie}=${secret}`;
}

/** A session of a user, as `key`. */
export async function signInAs({ database }: Pick<TestApi, 'database'>, userId: number): Promise<string> {
  const session = { userId, method: 'link', secondFactor: null, address: '127.0.0.1', browser: 'test' } as const;
  return sessionKey(await database.transaction((tx) => beginSession(tx, session)));
}

const sessionCookie = 'millrace_session';

function credentialHeaders(key: string, origin: string): Record<string, string> {
  return key.startsWith(`${sessionCookie}=`) ? { cookie: key, origin } : { authorization: `Bearer ${key}` };
}

/** Follows `next` from `path` on and collects the results of every page. */
export async function readAllPages<T>(api: TestApi, path: string, key: string): Promise<T[]> {
  const results: T[] = [];
  for (let next: string | null = path; next !== null; ) {
    const { status, body } = await api.get(next, key);
    if (status !== 200) throw new Error(`A page answered ${status}: ${JSON.stringify(body)}`);
    results.push(...body.results);
    next = body.next;
  }
  return results;
}
