import { createDatabase, type Database, type Sql } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import {
  type CompiledPrograms,
  compilePrograms,
  createTestDatabase,
  createTestTenant,
  eventually,
  type ServiceProcess,
  startService,
  type TestDatabase,
  type TestTenant,
} from '@millrace/testing';
import { createSearches } from './searches.ts';

describe('searches in the running service', () => {
  let program: CompiledPrograms;
  let testDatabase: TestDatabase;
  let database: Database;
  let service: ServiceProcess;
  let one: TestTenant;
  let other: TestTenant;
  beforeAll(async () => {
    program = await compilePrograms(['services/management-api/src/main.ts']);
    testDatabase = await createTestDatabase();
    database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'error') });
    one = await createTestTenant(database);
    other = await createTestTenant(database);
    service = await startService('management-api', program.files[0] ?? '', {
      DATABASE_URL: testDatabase.url,
      // Reserves two of the five connections for searches.
      DATABASE_POOL_SIZE: '5',
      API_PORT: '0',
      API_HOST: '127.0.0.1',
    });
  });
  afterAll(async () => {
    await service.stop();
    await database.stop();
    await testDatabase.drop();
    await program.remove();
  });

  const ask = async (tenant: TestTenant, path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${service.port}/api/projects/${tenant.projectId}/${path}`, {
      headers: { authorization: `Bearer ${tenant.personalApiKey}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.json() };
  };
  const filter = encodeURIComponent(JSON.stringify([{ key: 'text', operator: 'icontains', value: 'needle' }]));

  test('thirty searches with one key do not block other requests, or searches with other keys', async () => {
    const refused: Awaited<ReturnType<typeof ask>>[] = [];
    const searches = await database.transaction(async (tx) => {
      await tx.query('LOCK TABLE person IN ACCESS EXCLUSIVE MODE');
      const asked = Array.from({ length: 30 }, async () => {
        const response = await ask(one, `persons/?properties=${filter}`);
        refused.push(response);
        return response;
      });
      await eventually(() => refused.length >= 28, {
        what: 'refusing 28 of 30 searches',
        describe: () => refused.map(({ status }) => status),
      });
      for (const tenant of [other, one]) {
        expect(await ask(tenant, 'groups/')).toMatchObject({ status: 200 });
        expect(await ask(tenant, 'feature_flags/')).toMatchObject({ status: 200 });
      }
      expect(await ask(other, 'groups/?search=needle')).toMatchObject({ status: 200 });
      return asked;
    });
    expect(refused.slice(0, 28)).toEqual(
      Array(28).fill({
        status: 429,
        retryAfter: '2',
        body: {
          type: 'throttled_error',
          code: 'too_many_searches',
          detail:
            'This API key already has 2 searches running, which is the maximum. Wait until one of them finishes. To make searches faster, use `distinct_id` or `email`.',
          attr: null,
        },
      }),
    );
    const statuses = (await Promise.all(searches)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
  });

  test('computing the blast radius of a condition counts as a search', async () => {
    const properties = [{ key: 'text', type: 'person', operator: 'icontains', value: 'needle' }];
    const refused: number[] = [];
    const asked = await database.transaction(async (tx) => {
      await tx.query('LOCK TABLE person IN ACCESS EXCLUSIVE MODE');
      const responses = Array.from({ length: 10 }, async () => {
        const { status } = await ask(one, 'feature_flags/user_blast_radius/', { condition: { properties } });
        refused.push(status);
        return status;
      });
      await eventually(() => refused.length >= 8, { what: 'refusing 8 of 10', describe: () => refused });
      expect(await ask(one, 'groups/')).toMatchObject({ status: 200 });
      return responses;
    });
    expect(refused.slice(0, 8)).toEqual(Array(8).fill(429));
    expect((await Promise.all(asked)).filter((status) => status === 200)).toHaveLength(2);
  });
});

describe('the order in which searches start', () => {
  const noSql = {} as Sql;
  const searcher = (organizationId: string, keyId = `key of ${organizationId}`) => ({
    caller: { credential: { kind: 'key' as const, id: keyId, expiresAt: null } },
    target: { organizationId },
  });

  function startSearch(searches: ReturnType<typeof createSearches>, who: ReturnType<typeof searcher>) {
    let end = () => {};
    let isRunning = false;
    const done = searches.run(who, 'something', async () => {
      isRunning = true;
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      return 'found';
    });
    return { done, end: () => end(), isRunning: () => isRunning };
  }
  const afterAllTurns = () => new Promise((resolve) => setImmediate(resolve));

  test('reserves a connection for other organizations, and prefers searches of the least busy organization', async () => {
    const searches = createSearches({ sql: noSql, connections: 3 });
    const busy = [1, 2, 3].map(() => startSearch(searches, searcher('busy')));
    await afterAllTurns();
    expect(busy.map(({ isRunning }) => isRunning())).toEqual([true, true, false]);
    const quiet = startSearch(searches, searcher('quiet'));
    const third = startSearch(searches, searcher('third'));
    await afterAllTurns();
    expect([quiet.isRunning(), third.isRunning()]).toEqual([true, false]);
    busy[0]?.end();
    await afterAllTurns();
    // The search of `third` arrived after the last search of `busy`, but starts first because `third` has no running
    // search.
    expect([third.isRunning(), busy[2]?.isRunning()]).toEqual([true, false]);
    for (const search of [quiet, third, busy[1]]) search?.end();
    await afterAllTurns();
    busy[2]?.end();
    expect(await Promise.all([...busy, quiet, third].map(({ done }) => done))).toEqual(Array(5).fill('found'));
  });

  test('an organization with many keys can run only a limited number of searches at the same time', async () => {
    const searches = createSearches({ sql: noSql, connections: 2 });
    const begun = ['a', 'b', 'c', 'd'].map((key) => startSearch(searches, searcher('busy', key)));
    await expect(searches.run(searcher('busy', 'e'), 'after and before', async () => 1)).rejects.toMatchObject({
      kind: 'rate_limited',
      message: expect.stringMatching(
        /^The organization already has 4 searches running.* To make searches faster, use after and before\.$/,
      ),
    });
    for (const search of begun) {
      await afterAllTurns();
      search.end();
    }
    await Promise.all(begun.map(({ done }) => done));
    expect(await searches.run(searcher('busy', 'e'), 'something', async () => 1)).toBe(1);
  });

  test('rejects a search that has waited too long, and does not run it later', async () => {
    const searches = createSearches({ sql: noSql, connections: 1, patienceMs: 20 });
    const first = startSearch(searches, searcher('one'));
    let hasRun = false;
    await expect(
      searches.run(searcher('two'), 'something', async () => {
        hasRun = true;
      }),
    ).rejects.toMatchObject({ kind: 'unavailable', code: 'too_many_searches', retryAfterSeconds: 2 });
    first.end();
    await first.done;
    await afterAllTurns();
    expect(hasRun).toBe(false);
  });

  test('a failed search releases its connection', async () => {
    const searches = createSearches({ sql: noSql, connections: 1 });
    const fail = searches.run(searcher('one'), 'something', async () => {
      throw new Error('broken');
    });
    await expect(fail).rejects.toThrow('broken');
    expect(await searches.run(searcher('one'), 'something', async () => 1)).toBe(1);
  });
});
