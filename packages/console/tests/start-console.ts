import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compilePrograms, createTestDatabase, createTestTenant, startService } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { writeConsole } from '../bundle/write-console.ts';

export interface RunningConsole {
  /** Of a page of the test's project. */
  address(page: string): string;
  /** A new visitor with the rights of the project's owner. */
  open(page: string, viewport?: { width: number; height: number }): Promise<Page>;
  /** Asks the API as the owner. @throws Error for anything but success */
  api<Answer>(method: string, path: string, body?: unknown): Promise<Answer>;
  /** With the project's id as `$1`, unless other values are given. */
  query(sql: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  /** Whose events these are, for records of the log. */
  tenant: { environmentId: number; projectApiKey: string };
  /** Adds a record to the log that the API reads. */
  append(topic: string, record: { key: string; value: string; headers: object }): Promise<void>;
  storePerson(distinctId: string, properties: object): Promise<void>;
  stop(): Promise<void>;
}

/** The pages as they are built, served by a management API on a database of its own. */
export async function startConsole(): Promise<RunningConsole> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-console-'));
  const [programs, testDatabase] = await Promise.all([
    compilePrograms(['services/management-api/src/main.ts']),
    createTestDatabase(),
    writeConsole(directory, { isQuick: true }),
  ]);
  const tenant = await createTestTenant(testDatabase.url);
  const settings = {
    ...{ DATABASE_URL: testDatabase.url, EVENT_LOG: 'postgres', CONSOLE_DIRECTORY: directory },
    ...{ API_PORT: '0', HEALTH_PORT: '0', API_REQUESTS_PER_MINUTE: '0', API_REQUESTS_PER_HOUR: '0' },
  };
  const service = await startService('management-api', programs.files[0] ?? '', settings);
  const browser = await launchChromium();
  const database = new pg.Pool({ connectionString: testDatabase.url, max: 2 });
  const url = `http://127.0.0.1:${service.port}`;
  const headers = { authorization: `Bearer ${tenant.personalApiKey}` };
  const address = (page: string) => `${url}/console/projects/${tenant.projectId}/${page}`;
  return {
    address,
    tenant,
    async open(path, viewport = { width: 1280, height: 800 }) {
      // A key in place of a session: its pages are the same.
      const visitor = await browser.newContext({ viewport, extraHTTPHeaders: headers, reducedMotion: 'reduce' });
      const page = await visitor.newPage();
      await page.goto(address(path));
      return page;
    },
    async api<Answer>(method: string, path: string, body?: unknown) {
      const response = await fetch(`${url}/api/projects/${tenant.projectId}/${path}`, {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return (text === '' ? undefined : JSON.parse(text)) as Answer;
    },
    query: (sql, values = [tenant.projectId]) => database.query(sql, values),
    async append(topic, { key, value, headers }) {
      await database.query(
        `WITH place AS (
           INSERT INTO event_log_partition (topic, partition, next_offset) VALUES ($1, 0, 1)
           ON CONFLICT (topic, partition) DO UPDATE SET next_offset = event_log_partition.next_offset + 1
           RETURNING next_offset - 1 AS offset)
         INSERT INTO event_log_record (topic, partition, "offset", key, value, headers)
         SELECT $1, 0, place.offset, $2, $3, $4 FROM place`,
        [topic, key, Buffer.from(value), headers],
      );
    },
    async storePerson(distinctId, properties) {
      const uuid = randomUUID();
      await database.query(
        `INSERT INTO person (project_id, uuid, main_distinct_id, properties, is_identified, created_at)
         VALUES ($1, $2, $3, $4, true, now())`,
        [tenant.projectId, uuid, distinctId, properties],
      );
      await database.query(
        'INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid) VALUES ($1, $2, $3)',
        [tenant.projectId, distinctId, uuid],
      );
    },
    async stop() {
      await browser.close();
      await service.stop();
      await database.end();
      await testDatabase.drop();
      await programs.remove();
      await rm(directory, { recursive: true });
    },
  };
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What axe finds in a page as it is, each with the elements; the rail, which all pages have, is left to a test of its own. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(axe, 'utf8'));
  return page.evaluate<string[]>(
    `axe.run({ exclude: ['.rail'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
  );
}
