// How long questions take: on PostgreSQL, on ClickHouse, and as the SQL somebody would write.

import { randomUUID } from 'node:crypto';
import { createReader, createSqlDatabase } from '@millrace/db';
import {
  connectClickHouse,
  copyEvents,
  createTables,
  type EventStore,
  openEventStore,
  runQuery,
} from '@millrace/insights';
import { createLogger } from '@millrace/runtime';
import { installClickHouse, startClickHouse } from '@millrace/testing';
import { fillQuestions } from './insights/fill.ts';
import { crowd, measureOverApi, type OverApi, timed } from './insights/over-api.ts';
import { dashboardTiles, type Question, questions, questionsOfTiles } from './insights/questions.ts';
import { fillUmami } from './insights/umami.ts';
import { median, processorFacts, readable, report, serverFacts, type Target, textTable } from './report/report.ts';
import { type BenchDatabase, createBenchDatabase } from './topic/bench-project.ts';

export interface InsightsBenchOptions {
  events: number;
  /** Warm runs of each question, of which the median counts. */
  runs: number;
  withClickHouse: boolean;
}

interface Measured {
  firstMs: number;
  warmMs: number;
}
type Engine = (query: object) => Promise<unknown>;

const budget = () => ({ signal: new AbortController().signal, maxMs: 120_000, maxBytes: 512 * 1024 * 1024 });

/** Each question in turn on all engines: a slow hour of the machine is the same for all of them. */
export async function benchInsights(
  { events, runs, withClickHouse }: InsightsBenchOptions,
  print: (line: string) => void,
): Promise<void> {
  const database = await createBenchDatabase(`phc_bench_${randomUUID().replaceAll('-', '')}`);
  const parts: { stop(): Promise<void> }[] = [{ stop: () => database.drop() }];
  try {
    for (const line of [...processorFacts(), ...(await serverFacts(database))]) print(line);
    print(`Storing ${events} events of 90 days`);
    await fillQuestions(database, events);
    await fillUmami(database);
    const logger = createLogger('bench', 'warn');
    const reader = createReader({ url: database.url, logger, poolSize: 2, statementTimeoutMs: 120_000 });
    const records = createSqlDatabase({ url: database.url, logger, poolSize: 1 });
    parts.push(reader, records);
    const engineOf =
      (store: EventStore): Engine =>
      (query) =>
        runQuery(
          { sql: records.sql, events: store },
          { projectId: database.projectId, query, now: Date.now() },
          budget(),
        );
    const postgres = openEventStore({ eventStore: 'postgres' }, { reader, maxMs: 120_000 });
    const engines = new Map<string, Engine>([['PostgreSQL', engineOf(postgres.events)]]);
    if (withClickHouse) {
      const url = await openCopy(database, { events, print, own: (part) => void parts.push(part) });
      engines.set(
        'ClickHouse',
        engineOf(openEventStore({ eventStore: 'clickhouse', clickhouseUrl: url }, { reader, maxMs: 120_000 }).events),
      );
    }
    const results = new Map<string, Map<string, Measured>>();
    for (const question of questions) {
      print(question.name);
      results.set(question.name, await measureQuestion(question, { engines, database, runs }));
    }
    const dashboards = new Map<string, number>();
    for (const [name, engine] of engines) dashboards.set(name, await timeDashboard(engine, runs));
    print('over the API');
    const overApi = await measureOverApi(database);
    print('');
    print(insightsReport({ results, dashboards, overApi, events }));
  } finally {
    for (const part of parts.reverse()) await part.stop();
  }
}

/** The real engine in a child (npm chdb), which fetches the events itself. @returns its address. */
async function openCopy(
  database: BenchDatabase,
  {
    events,
    print,
    own,
  }: { events: number; print: (line: string) => void; own: (part: { stop(): Promise<void> }) => void },
): Promise<string> {
  const server = await startClickHouse(await installClickHouse());
  own(server);
  const client = connectClickHouse(server.url);
  own({ stop: () => client.close() });
  await createTables(client, { url: database.url });
  const began = performance.now();
  // By weeks: whoever copies 90 days at once holds them in memory.
  for (let week = 0; week < 14; week += 1) {
    const [from, until] = [week - 14, week - 13].map((weeks) => new Date(Date.now() + weeks * 7 * 86_400_000));
    if (from && until) await copyEvents(client, { url: database.url }, { from, until });
  }
  const seconds = (performance.now() - began) / 1000;
  print(`Copied to ClickHouse in ${readable(seconds)} s, ${readable(events / seconds)} events per second`);
  return server.url;
}

async function measureQuestion(
  { query, naive, umami }: Question,
  { engines, database, runs }: { engines: ReadonlyMap<string, Engine>; database: BenchDatabase; runs: number },
): Promise<Map<string, Measured>> {
  const ways = new Map<string, () => Promise<unknown>>();
  for (const [name, engine] of engines) ways.set(name, () => engine(query));
  if (naive !== undefined) ways.set('naive SQL', () => database.query(naive, [database.projectId]));
  if (umami !== undefined) ways.set('Umami', () => database.query(umami));
  const measured = new Map<string, Measured>();
  for (const [name, ask] of ways) {
    const firstMs = await timed(ask);
    const warm = [];
    for (let run = 0; run < runs; run += 1) warm.push(await timed(ask));
    measured.set(name, { firstMs, warmMs: median(warm) });
  }
  return measured;
}

/** Eight tiles, two at a time, as a project's share of the connections has it. */
async function timeDashboard(engine: Engine, runs: number): Promise<number> {
  const times = [];
  for (let run = 0; run <= runs; run += 1) {
    const waiting = [...dashboardTiles];
    const work = async () => {
      for (let tile = waiting.shift(); tile !== undefined; tile = waiting.shift()) await engine(tile);
    };
    times.push(await timed(() => Promise.all([work(), work()])));
  }
  return median(times.slice(1));
}

interface Results {
  results: ReadonlyMap<string, ReadonlyMap<string, Measured>>;
  dashboards: ReadonlyMap<string, number>;
  overApi: OverApi;
  events: number;
}

function insightsReport({ results, dashboards, overApi, events }: Results): string {
  const names = ['PostgreSQL', 'ClickHouse', 'naive SQL', 'Umami'].filter((name) =>
    [...results.values()].some((one) => one.has(name)),
  );
  const rows = [...results].map(([question, ways]) => [
    question,
    ...names.flatMap((name) => {
      const one = ways.get(name);
      return one === undefined ? ['', ''] : [readable(one.firstMs), readable(one.warmMs)];
    }),
  ]);
  const head = ['ms', ...names.flatMap((name) => [`${name}, first`, 'warm'])];
  const dashboardRows = [...dashboards].map(([name, ms]) => [name, readable(ms)]);
  const engines = ['PostgreSQL', 'ClickHouse'] as const;
  // Targets are of ten million events.
  const atMost = (question: string, engine: (typeof engines)[number]) =>
    Math.max(50, ((questions.find(({ name }) => name === question)?.targetMs[engine] ?? 0) * events) / 10_000_000);
  const targets: Target[] = engines.flatMap((engine) => [
    ...questions.flatMap(({ name }): Target[] => {
      const one = results.get(name)?.get(engine);
      return one === undefined ? [] : [[`${name}, ${engine}, ms`, one.warmMs, { atMost: atMost(name, engine) }]];
    }),
    ...[dashboards.get(engine)].flatMap((ms): Target[] => {
      const sum = questionsOfTiles.reduce((total, name) => total + atMost(name, engine), 0);
      return ms === undefined ? [] : [[`dashboard, ${engine}, ms`, ms, { atMost: sum / 2 }]];
    }),
  ]);
  const { keptMs, crowdMs, sentAway, maxRssBytes } = overApi;
  const megabytes = maxRssBytes / 2 ** 20;
  return report(
    [
      ['Questions', textTable([head, ...rows])],
      ['A dashboard of eight tiles, warm', textTable([['', 'ms'], ...dashboardRows])],
      [
        'Over the API, PostgreSQL',
        textTable([
          [
            'the cached dashboard, ms',
            `${crowd} at the same time, until all are complete, ms`,
            'rejected',
            'max RSS, MB',
          ],
          [keptMs, crowdMs, sentAway, megabytes].map(readable),
        ]),
      ],
    ],
    [
      ...targets,
      ['a cached dashboard, ms', keptMs, { atMost: 50 }],
      ['RSS of the API, MB', megabytes, { atMost: 250 }],
    ],
  );
}
