import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { compilePrograms, createTestDatabase, createTestTenant, startService } from '@millrace/testing';
import { builtConsole } from '@millrace/testing/built-console';
import { launchChromium } from '@millrace/testing/launch-chromium';
import pg from 'pg';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

export interface RunningConsole {
  address(page: string): string;
  /** Opens a page as a new visitor with an API key of the project owner. */
  open(page: string, options?: Visit): Promise<Page>;
  newPage(): Promise<Page>;
  /** Opens a page as a new visitor with a session of the project owner. */
  openSignedIn(page: string, options?: Visit): Promise<Page>;
  newVisitor(size?: Pick<Visit, 'width' | 'height'>): Promise<BrowserContext>;
  /** Creates a session of the project owner, as if the owner had signed in. @returns the session secret */
  beginSession(browser?: string): Promise<string>;
  /**
   * Calls the API as the project owner. The path is relative to the project, or begins with `/api/`.
   * @throws Error unless the call succeeds
   */
  api<Result>(method: string, path: string, body?: unknown): Promise<Result>;
  /** Runs SQL. Without `values`, `$1` is the project ID. */
  query(sql: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  tenant: { environmentId: number; projectApiKey: string };
  /** Appends a record to the log that the API reads. */
  append(topic: string, record: { key: string; value: string; headers: object }): Promise<void>;
  storePerson(distinctId: string, properties: object, more?: { uuid?: string; since?: string }): Promise<void>;
  /** Closes all pages. Open pages would refresh their data until the end of the test file. */
  closePages(): Promise<void>;
  stop(): Promise<void>;
}

interface Visit {
  width?: number;
  height?: number;
  prepare?: (visitor: BrowserContext) => Promise<void>;
}

/**
 * Serves the built console from a management API with a separate database.
 * @param marksWords whether to wrap every string of the `words.ts` files in ⟦ and ⟧
 * @param clock the current time for the API and the database; the real time by default
 * @param publicHost the host in `PUBLIC_API_URL`, for tests of passkeys and single sign-on; the setting is absent by
 * default
 * @param more the additional settings of the API
 */
export async function startConsole({
  marksWords = false,
  clock,
  publicHost,
  settings: more = {},
}: {
  marksWords?: boolean;
  clock?: Date;
  publicHost?: '127.0.0.1' | 'localhost';
  settings?: Record<string, string>;
} = {}): Promise<RunningConsole> {
  const [programs, testDatabase, built] = await Promise.all([
    compilePrograms(['services/management-api/src/main.ts']),
    createTestDatabase(),
    builtConsole({ marksWords }),
  ]);
  const tenant = await createTestTenant(testDatabase.url);
  const settings = {
    ...{ DATABASE_URL: testDatabase.url, EVENT_LOG: 'postgres', CONSOLE_DIRECTORY: built.directory },
    ...{ API_PORT: '0', HEALTH_PORT: '0', API_REQUESTS_PER_MINUTE: '0', API_REQUESTS_PER_HOUR: '0' },
    ...(publicHost && (await publicAddress(publicHost))),
    ...more,
  };
  if (clock) await moveClock(testDatabase.url, clock);
  const service = await startService('management-api', programs.files[0] ?? '', settings, {
    ...(clock && { probe: movedClock(clock) }),
  });
  const browser = await launchChromium();
  const database = new pg.Pool({ connectionString: testDatabase.url, max: 2 });
  // A database client that has ended still emits an error when the server closes the connection.
  database.on('error', () => {});
  const url = `http://127.0.0.1:${service.port}`;
  const headers = { authorization: `Bearer ${tenant.personalApiKey}` };
  const address = (page: string) => `${url}/console/projects/${tenant.projectId}/${page}`;
  const newVisitor = ({ width = 1280, height = 800 }: Visit = {}, more: BrowserContextOptions = {}) =>
    browser.newContext({ viewport: { width, height }, reducedMotion: 'reduce', ...more });
  const visit = async (path: string, { prepare, ...size }: Visit, more: BrowserContextOptions) => {
    const visitor = await newVisitor(size, more);
    await prepare?.(visitor);
    const page = await visitor.newPage();
    await page.goto(address(path));
    return page;
  };
  const beginSession = (userAgent = 'Mozilla/5.0 (X11; Linux) Firefox/140.0') =>
    createSession(database, tenant.userId, userAgent);
  return {
    address,
    tenant,
    // Use an API key, because pages look the same with an API key as with a session.
    open: (path, options = {}) => visit(path, options, { extraHTTPHeaders: headers }),
    newPage: async () => (await newVisitor({}, { extraHTTPHeaders: headers })).newPage(),
    async openSignedIn(path, options = {}) {
      const cookie = { name: 'millrace_session', value: await beginSession(), domain: '127.0.0.1', path: '/' };
      const kept = { ...cookie, expires: -1, httpOnly: true, secure: false, sameSite: 'Lax' as const };
      return visit(path, options, { permissions: ['clipboard-read'], storageState: { cookies: [kept], origins: [] } });
    },
    newVisitor,
    beginSession,
    async api<Result>(method: string, path: string, body?: unknown) {
      const fullPath = path.startsWith('/') ? path : `/api/projects/${tenant.projectId}/${path}`;
      const response = await fetch(url + fullPath, {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return (text === '' ? undefined : JSON.parse(text)) as Result;
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
    async storePerson(distinctId, properties, { uuid = randomUUID(), since = new Date().toISOString() } = {}) {
      await database.query(
        `INSERT INTO person (project_id, uuid, main_distinct_id, properties, is_identified, created_at)
         VALUES ($1, $2, $3, $4, true, $5)`,
        [tenant.projectId, uuid, distinctId, properties, since],
      );
      await database.query(
        'INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid) VALUES ($1, $2, $3)',
        [tenant.projectId, distinctId, uuid],
      );
    },
    async closePages() {
      await Promise.all(browser.contexts().map((visitor) => visitor.close()));
    },
    async stop() {
      await browser.close();
      await service.stop();
      await database.end();
      await testDatabase.drop();
      await programs.remove();
      await built.remove();
    },
  };
}

async function createSession(database: pg.Pool, userId: number, userAgent: string): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await database.query(
    `INSERT INTO session (id, token_hash, user_id, method, address, browser, expires_at)
       VALUES ($1, $2, $3, 'password', '192.0.2.7', $4, now() + interval '1 day')`,
    [randomUUID(), createHash('sha256').update(secret).digest('hex'), userId, userAgent],
  );
  return secret;
}

async function publicAddress(host: string): Promise<{ API_PORT: string; PUBLIC_API_URL: string }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return { API_PORT: String(port), PUBLIC_API_URL: `http://${host}:${port}` };
}

/** Returns a module that sets the clock of the program that loads it. */
const movedClock = (to: Date) =>
  `data:text/javascript,${encodeURIComponent(`
  const Real = Date;
  const moved = ${to.getTime()} - Real.now();
  globalThis.Date = class extends Real {
    constructor(...given) {
      if (given.length === 0) super(Real.now() + moved);
      else super(...given);
    }
    static now() {
      return Real.now() + moved;
    }
  };`)}`;

/** Sets a database's clock with functions that hide the built-in functions. */
async function moveClock(url: string, to: Date): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const moved = `interval '${to.getTime() - Date.now()} milliseconds'`;
  const name = new URL(url).pathname.slice(1);
  await client.query(`
    CREATE SCHEMA clock;
    CREATE FUNCTION clock.now() RETURNS timestamptz STABLE AS 'SELECT pg_catalog.now() + ${moved.replaceAll("'", "''")}' LANGUAGE sql;
    CREATE FUNCTION clock.clock_timestamp() RETURNS timestamptz AS 'SELECT pg_catalog.clock_timestamp() + ${moved.replaceAll("'", "''")}' LANGUAGE sql;
    ALTER DATABASE ${name} SET search_path = clock, pg_catalog, public`);
  await client.end();
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

const contrastRules = ['color-contrast', 'link-in-text-block'];

/**
 * Runs axe on the current page.
 * @returns the violations, each with its elements
 * @param isWhole whether to check the navigation, which all pages share, and the size of touch targets too
 * @param isOnlyContrast whether to check only colors
 */
export async function runAxe(page: Page, { isWhole = false, isOnlyContrast = false } = {}): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(await readFile(axe, 'utf8'));
  const part = isWhole ? 'document' : `{ exclude: ['.rail'] }`;
  const options = {
    // Omit details of passed rules and element selectors, because collecting them takes a third of the check's time.
    ...{ resultTypes: ['violations'], selectors: false },
    ...(isOnlyContrast
      ? { runOnly: { type: 'rule', values: contrastRules } }
      : { rules: { 'target-size': { enabled: isWhole } } }),
  };
  return page.evaluate<string[]>(
    `axe.run(${part}, ${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
  );
}

/**
 * Runs axe on a page in both themes, and then restores the light theme.
 * @returns the violations, each with its theme
 */
export async function runAxeInBothThemes(page: Page, { isWhole = false } = {}): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await runAxe(page, { isWhole, isOnlyContrast: true });
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await runAxe(page, { isWhole });
  return [...dark.map((one) => `dark: ${one}`), ...light.map((one) => `light: ${one}`)];
}
