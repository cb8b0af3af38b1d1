import {
  compilePrograms,
  eventually,
  installClickHouseOrNull,
  type ServiceProcess,
  startClickHouse,
  startService,
  type TestClickHouse,
} from '@millrace/testing';
import { post } from '../support/post.ts';
import { type RunningServices, startServices } from '../support/start-services.ts';

/** With `EVENT_STORE=clickhouse`, the services query the events in ClickHouse. */
const modules = await installClickHouseOrNull();

(modules === null ? describe.skip : describe)('queries on ClickHouse', () => {
  let clickhouse: TestClickHouse;
  let services: RunningServices;
  let worker: ServiceProcess;
  beforeAll(async () => {
    clickhouse = await startClickHouse(String(modules));
    const settings = { EVENT_STORE: 'clickhouse', CLICKHOUSE_URL: clickhouse.url };
    services = await startServices({ eventLog: 'postgres', settings });
    const programs = await compilePrograms(['services/delivery-worker/src/main.ts']);
    worker = await startService('delivery-worker', String(programs.files[0]), {
      ...settings,
      ...{ DATABASE_URL: services.databaseUrl, HEALTH_PORT: '0', NODE_ENV: 'production' },
    });
  });
  afterAll(async () => {
    await worker?.stop();
    await services?.stop();
    await clickhouse?.stop();
  });

  async function runQuery(
    query: object,
  ): Promise<{ status: number; body: { results?: { count: number }[]; code?: string; detail?: string } }> {
    const response = await fetch(`${services.apiUrl}/api/projects/${services.tenant.projectId}/query/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${services.tenant.personalApiKey}` },
      body: JSON.stringify({ query, refresh: 'force_blocking' }),
    });
    return { status: response.status, body: (await response.json()) as never };
  }
  async function list(
    path: string,
  ): Promise<{ status: number; body: { results: { distinct_id: string }[]; code?: string } }> {
    const response = await fetch(`${services.apiUrl}/api/projects/${services.tenant.projectId}/${path}`, {
      headers: { authorization: `Bearer ${services.tenant.personalApiKey}` },
    });
    return { status: response.status, body: (await response.json()) as never };
  }
  const orders = (math: string) => ({
    kind: 'TrendsQuery',
    series: [{ kind: 'EventsNode', event: 'order', math }],
    dateRange: { date_from: '-1d' },
  });
  const send = (event: string, distinct_id: string, properties: object = {}) =>
    post(`${services.ingestUrl}/capture/`, {
      ...{ api_key: services.tenant.projectApiKey, event, distinct_id, properties },
    });

  test('counts new events and applies a merge once both are copied, without reading events from PostgreSQL', async () => {
    await send('order', 'anon-1');
    await send('order', 'ada');
    await eventually(async () => expect((await runQuery(orders('total'))).body.results?.[0]?.count).toBe(2), {
      what: 'Both orders in ClickHouse',
    });
    expect((await runQuery(orders('dau'))).body.results?.[0]?.count).toBe(2);
    await send('$identify', 'ada', { $anon_distinct_id: 'anon-1' });
    await eventually(async () => expect((await runQuery(orders('dau'))).body.results?.[0]?.count).toBe(1), {
      what: 'One person',
    });
    await services.database.query(`DELETE FROM event WHERE event = 'order'`);
    expect((await runQuery(orders('total'))).body.results?.[0]?.count).toBe(2);
    const listed = await list('events/?event=order');
    expect([listed.status, listed.body.results.map(({ distinct_id }) => distinct_id)]).toEqual([
      200,
      ['ada', 'anon-1'],
    ]);
    expect((await list('events/counts?event=order')).body).toMatchObject({ total: 2 });
  });

  test('counts past events of a distinct ID for its new person after a split', async () => {
    const split = await fetch(`${services.apiUrl}/api/projects/${services.tenant.projectId}/persons/ada/split/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${services.tenant.personalApiKey}` },
    });
    const { splits } = (await split.json()) as { splits: { distinct_id: string; uuid: string }[] };
    expect([split.status, splits.map(({ distinct_id }) => distinct_id)]).toEqual([201, ['anon-1']]);
    await eventually(async () => expect((await runQuery(orders('dau'))).body.results?.[0]?.count).toBe(2), {
      what: 'Two persons',
    });
    const ofPerson = async (id: string) =>
      (await list(`events/?event=order&person_id=${id}`)).body.results.map(({ distinct_id }) => distinct_id);
    expect(await ofPerson(String(splits[0]?.uuid))).toEqual(['anon-1']);
  });

  test('rejects an invalid query with the same error as without ClickHouse', async () => {
    const { status, body } = await runQuery({ ...orders('sum') });
    expect([status, body.detail]).toEqual([400, expect.stringContaining('series.0.math_property')]);
  });

  test('engine-028: without ClickHouse, queries return 503, and everything else keeps working', async () => {
    await clickhouse.stop();
    expect(await runQuery(orders('total'))).toMatchObject({ status: 503, body: { code: 'event_store_unavailable' } });
    expect(await list('events/')).toMatchObject({ status: 503, body: { code: 'event_store_unavailable' } });
    expect((await send('order', 'grace')).status).toBe(200);
    await eventually(
      async () =>
        expect((await services.database.query(`SELECT 1 FROM event WHERE distinct_id = 'grace'`)).rowCount).toBe(1),
      { what: 'The event in PostgreSQL' },
    );
    await eventually(() => worker.output().includes('"task":"copy_events"'), { what: 'The warning of the worker' });
  });
});
