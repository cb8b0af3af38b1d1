import { createReader, createSqlDatabase } from '@millrace/db';
import {
  connectClickHouse,
  copyEvents,
  createSqlParser,
  createTables,
  type EventStore,
  openEventStore,
  runQuery,
} from '@millrace/insights';
import { createLogger } from '@millrace/runtime';
import { installClickHouse, startClickHouse } from '@millrace/testing';
import { type Bench, withBench } from './harness/bench.ts';
import type { Print } from './harness/command.ts';
import { median, readable, report, type Target, textTable } from './harness/report.ts';
import { fillInsights } from './insights/fill.ts';
import { crowd, measureOverApi, type OverApi, timed } from './insights/over-api.ts';
import { type BenchQuery, dashboardTargetMs, dashboardTiles, queries } from './insights/queries.ts';
import { fillUmami } from './insights/umami.ts';

export interface InsightsBenchOptions {
  events: number;
  /** Runs of each query with warm caches. */
  pairs: number;
  clickhouse: boolean;
}

type Engine = (query: object) => Promise<unknown>;
const engineNames = ['PostgreSQL', 'ClickHouse'] as const;

/** The name of an engine that runs the query as SQL. */
const asSql = (engine: string) => `SQL on ${engine}`;
/** SQL may take this much longer than the same insight query. */
const longerAsSql = 1.3;

/** Milliseconds with warm caches, by engine. */
type Times = Map<string, number>;

const maxMs = 120_000;
const budget = () => ({ signal: new AbortController().signal, maxMs, maxBytes: 512 * 1024 * 1024 });

/** Runs each query on all engines in turn, and as simple SQL. A busy hour of the machine affects all of them alike. */
export async function benchInsights({ events, pairs, clickhouse }: InsightsBenchOptions, print: Print): Promise<void> {
  await withBench(print, async (bench) => {
    const { database } = bench;
    print(`storing ${events} events of 90 days`);
    await fillInsights(database, events);
    await fillUmami(database);
    const engines = await openEngines(bench, clickhouse ? events : null);
    const results = new Map<string, Times>();
    for (const query of queries) {
      print(query.name);
      results.set(query.name, await measureQuery(query, { engines, bench, runs: pairs }));
    }
    const dashboards: Times = new Map();
    for (const [name, engine] of engines) dashboards.set(name, await timeDashboard(engine, pairs));
    print('over the API');
    return insightsReport({ results, dashboards, overApi: await measureOverApi(bench), events });
  });
}

/** @param copied the number of events to copy to ClickHouse, or null for PostgreSQL only */
async function openEngines(bench: Bench, copied: number | null): Promise<Map<string, Engine>> {
  const { database } = bench;
  const logger = createLogger('bench', 'warn');
  const reader = createReader({ url: database.url, logger, poolSize: 2, statementTimeoutMs: maxMs });
  const records = createSqlDatabase({ url: database.url, logger, poolSize: 1 });
  bench.onEnd(() => reader.stop());
  bench.onEnd(() => records.stop());
  const parser = createSqlParser();
  bench.onEnd(() => parser.stop());
  const engineOf =
    (store: EventStore): Engine =>
    (query) =>
      runQuery(
        { sql: records.sql, events: store, parser },
        { projectId: database.projectId, query, now: Date.now() },
        budget(),
      );
  const postgres = openEventStore({ eventStore: 'postgres' }, { reader, maxMs });
  const engines = new Map<string, Engine>([['PostgreSQL', engineOf(postgres.events)]]);
  if (copied !== null) {
    const clickhouseUrl = await openClickHouse(bench, copied);
    const clickHouse = openEventStore({ eventStore: 'clickhouse', clickhouseUrl }, { reader, maxMs });
    engines.set('ClickHouse', engineOf(clickHouse.events));
  }
  return engines;
}

/** Starts the ClickHouse engine (chdb from npm) in a child process, which then copies the events. Returns its URL. */
async function openClickHouse({ database, print, onEnd }: Bench, events: number): Promise<string> {
  const server = await startClickHouse(await installClickHouse());
  onEnd(() => server.stop());
  const client = connectClickHouse(server.url);
  onEnd(() => client.close());
  await createTables(client, { url: database.url });
  const ms = await timed(async () => {
    // Copies one week at a time, because a single copy of 90 days would hold all of them in memory.
    for (let week = 0; week < 14; week += 1) {
      const [from, until] = [week - 14, week - 13].map((weeks) => new Date(Date.now() + weeks * 7 * 86_400_000));
      if (from && until) await copyEvents(client, { url: database.url }, { from, until });
    }
  });
  print(`copied to ClickHouse in ${readable(ms / 1000)} s, ${readable((events / ms) * 1000)} events per second`);
  return server.url;
}

async function measureQuery(
  { query, sql, simpleSql, umami }: BenchQuery,
  { engines, bench, runs }: { engines: ReadonlyMap<string, Engine>; bench: Bench; runs: number },
): Promise<Times> {
  const { database } = bench;
  const variants = new Map<string, () => Promise<unknown>>();
  for (const [name, engine] of engines) {
    variants.set(name, () => engine(query));
    if (sql !== undefined) variants.set(asSql(name), () => engine({ kind: 'HogQLQuery', query: sql }));
  }
  if (simpleSql !== undefined) variants.set('simple SQL', () => database.query(simpleSql, [database.projectId]));
  if (umami !== undefined) variants.set('Umami', () => database.query(umami));
  const measured: Times = new Map();
  for (const [name, run] of variants) measured.set(name, await warmMedian(run, runs));
  return measured;
}

/** The median of several runs after one that fills the caches. */
async function warmMedian(run: () => Promise<unknown>, runs: number): Promise<number> {
  await run();
  const times: number[] = [];
  for (let at = 0; at < runs; at += 1) times.push(await timed(run));
  return median(times);
}

/** Loads eight tiles, two at a time. */
function timeDashboard(engine: Engine, runs: number): Promise<number> {
  return warmMedian(async () => {
    const waiting = [...dashboardTiles];
    const work = async () => {
      for (let tile = waiting.shift(); tile !== undefined; tile = waiting.shift()) await engine(tile);
    };
    await Promise.all([work(), work()]);
  }, runs);
}

type Results = { results: ReadonlyMap<string, Times>; dashboards: Times; overApi: OverApi; events: number };

function insightsReport({ results, dashboards, overApi, events }: Results): string {
  const names = [...engineNames, ...engineNames.map(asSql), 'simple SQL', 'Umami'].filter((name) =>
    [...results.values()].some((one) => one.has(name)),
  );
  const msOf = (times: Times, name: string) => (times.has(name) ? readable(times.get(name) ?? 0) : '');
  const rows = [...results, ['dashboard of eight tiles', dashboards] as const];
  // The targets are for ten million events.
  const atMost = (targetMs: number) => Math.max(50, (targetMs * events) / 10_000_000);
  const targets = engineNames.flatMap((engine): Target[] => {
    const dashboard = dashboards.get(engine);
    if (dashboard === undefined) return [];
    const ofQueries = queries.map(({ name, targetMs }): Target => {
      const ms = results.get(name)?.get(engine) ?? Number.NaN;
      return [`${name}, ${engine}, ms`, ms, { atMost: atMost(targetMs[engine]) }];
    });
    const ofSql = queries.flatMap(({ name }): Target[] => {
      const times = results.get(name);
      const [ms, sqlMs] = [times?.get(engine), times?.get(asSql(engine))];
      if (ms === undefined || sqlMs === undefined) return [];
      return [[`${name} as SQL, ${engine}, ms`, sqlMs, { atMost: Math.max(20, longerAsSql * ms) }]];
    });
    return [
      ...ofQueries,
      ...ofSql,
      [`dashboard, ${engine}, ms`, dashboard, { atMost: atMost(dashboardTargetMs[engine]) }],
    ];
  });
  const { cachedMs, crowdMs, rejected, maxRssBytes } = overApi;
  const megabytes = maxRssBytes / 2 ** 20;
  const apiHeadings = ['cached dashboard, ms', `${crowd} at the same time, ms`, 'rejected', 'max RSS, MB'];
  return report(
    [
      [
        'Queries, warm',
        textTable([
          ['ms', ...names],
          ...rows.map(([query, times]) => [query, ...names.map((name) => msOf(times, name))]),
        ]),
      ],
      ['Over the API, PostgreSQL', textTable([apiHeadings, [cachedMs, crowdMs, rejected, megabytes].map(readable)])],
    ],
    [
      ...targets,
      ['a cached dashboard, ms', cachedMs, { atMost: 50 }],
      ['RSS of the API, MB', megabytes, { atMost: 250 }],
    ],
  );
}
