// Benchmark of insight queries on a large project, compared with simple SQL.

import { createReadPool, createSqlDatabase } from '@millrace/db';
import { createSqlParser, openEventStore, runQuery } from '@millrace/insights';
import { createLogger } from '@millrace/runtime';
import { type Bench, withBench } from './harness/bench.ts';
import type { Print } from './harness/command.ts';
import { formatFigure, formatReport, formatTable, median, type Target } from './harness/report.ts';
import { fillInsights } from './insights/fill.ts';
import { benchOnClickHouse, type ClickHouseBenchOptions } from './insights/on-clickhouse.ts';
import { measureMs, measureQueriesOverApi, type OverApi, simultaneousQueries } from './insights/over-api.ts';
import { type BenchQuery, dashboardTargetMs, dashboardTiles, queries } from './insights/queries.ts';
import { fillUmami } from './insights/umami.ts';

export interface InsightsBenchOptions extends ClickHouseBenchOptions {
  clickhouse: boolean;
}

type Engine = (query: object) => Promise<unknown>;

const [engineName, asSql] = ['PostgreSQL', 'SQL on PostgreSQL'] as const;
/** The longest acceptable time for an SQL query, as a multiple of the time of the equivalent insight query. */
const longerAsSql = 1.3;

type Times = Map<string, number>;

const maxMs = 120_000;
const budget = () => ({ signal: new AbortController().signal, maxMs, maxBytes: 512 * 1024 * 1024 });

/**
 * Runs each query in all its variants, including simple SQL. The variants alternate, so that other work on the machine
 * slows all of them equally.
 */
export async function benchInsights(options: InsightsBenchOptions, print: Print): Promise<void> {
  if (options.clickhouse) return benchOnClickHouse(options, print);
  const { events, pairs } = options;
  await withBench(print, async (bench) => {
    const { database } = bench;
    print(`storing ${events} events of 90 days`);
    await fillInsights(database, events);
    await fillUmami(database);
    const engine = openPostgres(bench);
    const results = new Map<string, Times>();
    for (const query of queries) {
      print(query.name);
      results.set(query.name, await measureQuery(query, { engine, bench, runs: pairs }));
    }
    const dashboardMs = await timeDashboard(engine, pairs);
    print('over the API');
    return insightsReport({ results, dashboardMs, overApi: await measureQueriesOverApi(bench), events });
  });
}

function openPostgres({ database, onEnd }: Bench): Engine {
  const logger = createLogger('bench', 'warn');
  const reader = createReadPool({ url: database.url, logger, poolSize: 2, statementTimeoutMs: maxMs });
  const records = createSqlDatabase({ url: database.url, logger, poolSize: 1 });
  onEnd(() => reader.stop());
  onEnd(() => records.stop());
  const parser = createSqlParser();
  onEnd(() => parser.stop());
  const { events } = openEventStore({ eventStore: 'postgres' }, { reader, maxMs });
  const deps = { sql: records.sql, events, parser };
  return (query) => runQuery(deps, { projectId: database.projectId, query, now: Date.now() }, budget());
}

async function measureQuery(
  { query, sql, simpleSql, umami }: BenchQuery,
  { engine, bench, runs }: { engine: Engine; bench: Bench; runs: number },
): Promise<Times> {
  const { database } = bench;
  const variants = new Map<string, () => Promise<unknown>>([[engineName, () => engine(query)]]);
  if (sql !== undefined) variants.set(asSql, () => engine({ kind: 'HogQLQuery', query: sql }));
  if (simpleSql !== undefined) variants.set('simple SQL', () => database.query(simpleSql, [database.projectId]));
  if (umami !== undefined) variants.set('Umami', () => database.query(umami));
  const measured: Times = new Map();
  for (const [name, run] of variants) measured.set(name, await warmMedian(run, runs));
  return measured;
}

/** Returns the median of several runs, after one additional run that fills the caches. */
async function warmMedian(run: () => Promise<unknown>, runs: number): Promise<number> {
  await run();
  const times: number[] = [];
  for (let at = 0; at < runs; at += 1) times.push(await measureMs(run));
  return median(times);
}

/** Measures how long it takes to load eight tiles, two at a time. */
function timeDashboard(engine: Engine, runs: number): Promise<number> {
  return warmMedian(async () => {
    const waiting = [...dashboardTiles];
    const work = async () => {
      for (let tile = waiting.shift(); tile !== undefined; tile = waiting.shift()) await engine(tile);
    };
    await Promise.all([work(), work()]);
  }, runs);
}

type Results = { results: ReadonlyMap<string, Times>; dashboardMs: number; overApi: OverApi; events: number };

function insightsReport({ results, dashboardMs, overApi, events }: Results): string {
  const names = [engineName, asSql, 'simple SQL', 'Umami'];
  const msOf = (times: Times, name: string) => (times.has(name) ? formatFigure(times.get(name) ?? 0) : '');
  const rows = [...results, ['dashboard of eight tiles', new Map([[engineName, dashboardMs]])] as const];
  // The targets are for ten million events, so adjust them to the number of events.
  const atMost = (targetMs: number) => Math.max(50, (targetMs * events) / 10_000_000);
  const targets = queries.flatMap(({ name, targetMs }): Target[] => {
    const [ms = Number.NaN, sqlMs] = [engineName, asSql].map((variant) => results.get(name)?.get(variant));
    const queryRequest: Target = [`${name}, ms`, ms, { atMost: atMost(targetMs) }];
    if (sqlMs === undefined) return [queryRequest];
    return [queryRequest, [`${name} as SQL, ms`, sqlMs, { atMost: Math.max(20, longerAsSql * ms) }]];
  });
  const { cachedMs, crowdMs, rejected, maxRssBytes } = overApi;
  const megabytes = maxRssBytes / 2 ** 20;
  const apiHeadings = [
    'cached dashboard, ms',
    `${simultaneousQueries} at the same time, ms`,
    'rejected',
    'max RSS, MB',
  ];
  return formatReport(
    [
      [
        'Queries, warm',
        formatTable([
          ['ms', ...names],
          ...rows.map(([query, times]) => [query, ...names.map((name) => msOf(times, name))]),
        ]),
      ],
      [
        'Over the API, PostgreSQL',
        formatTable([apiHeadings, [cachedMs, crowdMs, rejected, megabytes].map(formatFigure)]),
      ],
    ],
    [
      ...targets,
      ['dashboard, ms', dashboardMs, { atMost: atMost(dashboardTargetMs) }],
      ['a cached dashboard, ms', cachedMs, { atMost: 50 }],
      ['RSS of the API, MB', megabytes, { atMost: 250 }],
    ],
  );
}
