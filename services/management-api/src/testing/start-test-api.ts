import { createDatabase, type Database, type Sql } from '@millrace/db';
import { serve } from '@millrace/http';
import { createHealth, createLogger, createMetrics } from '@millrace/runtime';
import { createTestDatabase } from '@millrace/testing';
import { type AppDeps, createApp } from '../app.ts';

export interface TestAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at answers of every shape
  body: any;
}

export interface TestApi {
  url: string;
  database: Database;
  /** @param key personal API key; none for an anonymous request. */
  get(path: string, key?: string): Promise<TestAnswer>;
  /** Number of SQL statements sent so far. */
  statementCount(): number;
  stop(): Promise<void>;
}

/** The management API on a database of its own and a free port. Every answer is checked against its declared schema. */
export async function startTestApi(overrides: Partial<AppDeps> = {}): Promise<TestApi> {
  const testDatabase = await createTestDatabase();
  const logger = createLogger('test', 'error');
  const database = createDatabase({ url: testDatabase.url, logger, poolSize: 5 });
  const metrics = createMetrics({ withProcessMetrics: false });
  let statements = 0;
  const sql: Sql = {
    query: (text, values) => {
      statements += 1;
      return database.sql.query(text, values);
    },
  };
  const app = createApp({ sql, logger, metrics, health: createHealth(metrics), checkResponses: true, ...overrides });
  const server = await serve(app, { port: 0, host: '127.0.0.1', drainTimeoutMs: 1000 });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    database,
    async get(path, key) {
      const address = path.startsWith('http') ? path : url + path;
      const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
      const response = await fetch(address, { headers, redirect: 'manual' });
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
    statementCount: () => statements,
    async stop() {
      await server.stop();
      await database.stop();
      await testDatabase.drop();
    },
  };
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
