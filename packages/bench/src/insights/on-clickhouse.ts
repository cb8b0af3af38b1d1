// Benchmark of insight queries on ClickHouse. Prints the CPU time, rows and bytes of each query, which are comparable even
// on a busy machine.

import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { createReadPool, createSqlDatabase } from '@millrace/db';
import {
  type ClickHouseClient,
  type Condition,
  connectClickHouse,
  copyPersonPortion,
  createSqlParser,
  createTables,
  type EventListQuery,
  type EventStore,
  openEventStore,
  runQuery,
} from '@millrace/insights';
import { createLogger } from '@millrace/runtime';
import { installClickHouse, startClickHouse } from '@millrace/testing';
import { withBench } from '../harness/bench.ts';
import type { Print } from '../harness/command.ts';
import { median, readable, textTable } from '../harness/report.ts';
import {
  fillClickHouse,
  fillPersons,
  type Generated,
  planGeneratedEvents,
  selectGeneratedEvents,
} from './generated-events.ts';
import { measureMs } from './over-api.ts';
import { clickHouseQueries, daily, dashboardTiles, uniques, weekly } from './queries.ts';

const maxMs = 600_000;
const budget = () => ({ signal: new AbortController().signal, maxMs, maxBytes: 512 * 1024 * 1024 });

interface Measured {
  cpuMs: number;
  rows: number;
  bytes: number;
  peakBytes: number;
  /** CPU time of this process, which does the work of the API. */
  apiMs: number;
  /** Bytes that ClickHouse sent to this process. */
  sentBytes: number;
  ms: number;
}

/** Fills ClickHouse itself, and PostgreSQL with persons only. @throws Error if a result is wrong */
export async function benchOnClickHouse({ events, pairs }: { events: number; pairs: number }, print: Print) {
  await withBench(print, async ({ database, onEnd }) => {
    const server = await startClickHouse(await installClickHouse());
    onEnd(() => server.stop());
    const client = connectClickHouse(server.url);
    onEnd(() => client.close());
    await createTables(client, { url: database.url });
    const size = planGeneratedEvents(database.projectId, events);
    print(`generating ${events} events of 90 days`);
    await fillPersons(database, size);
    await fillClickHouse(client, size);
    const logger = createLogger('bench', 'warn');
    const reader = createReadPool({ url: database.url, logger, poolSize: 2, statementTimeoutMs: maxMs });
    onEnd(() => reader.stop());
    const records = createSqlDatabase({ url: database.url, logger, poolSize: 1 });
    onEnd(() => records.stop());
    const copying = { database: records, client, postgres: { url: database.url } };
    const copyMs = await measureMs(async () => {
      while ((await copyPersonPortion(copying))?.hasMore !== false);
    });
    print(`copied the persons in ${Math.round(copyMs)} ms`);
    const parser = createSqlParser();
    onEnd(() => parser.stop());
    const store = openEventStore({ eventStore: 'clickhouse', clickhouseUrl: server.url }, { reader, maxMs });
    onEnd(() => store.stop());
    const run = async (query: object): Promise<unknown> => {
      const deps = { sql: records.sql, events: store.events, parser };
      return (await runQuery(deps, { projectId: database.projectId, query, now: Date.now() }, budget())).results;
    };
    await checkResults(client, { size, run });
    print('the results of three queries are those of the generated events');
    const rows: string[][] = [];
    const measureAll = async (name: string, work: () => Promise<unknown>) => {
      print(name);
      rows.push([name, ...columnsOf(await measureRuns(client, work, pairs))]);
    };
    for (const { name, query, sql } of clickHouseQueries) {
      await measureAll(name, () => run(query));
      if (sql !== undefined) await measureAll(`${name}, as SQL`, () => run({ kind: 'HogQLQuery', query: sql }));
    }
    for (const [name, list] of Object.entries(lists)) await measureAll(name, () => readList(store.events, size, list));
    await measureAll('dashboard of eight tiles', async () => {
      for (const tile of dashboardTiles) await run(tile);
    });
    return textTable([['', 'CPU ms', 'million rows', 'MB read', 'peak MB', 'API CPU ms', 'MB sent', 'ms'], ...rows]);
  });
}

const isValue = (key: string, value: string): Condition => ({
  property: { of: 'event', key },
  test: { is: 'equal', values: [value] },
});

/** Event lists as the API reads them. */
const lists: Readonly<Record<string, Partial<EventListQuery>>> = {
  'newest events': {},
  'oldest events': { isOldestFirst: true },
  'newest events with a rare name': { events: ['rare'] },
  'newest events with a rare property value': { where: isValue('order_code', '12345') },
  'events of a distinct ID': {
    where: { property: { of: 'column', key: 'distinct_id' }, test: { is: 'equal', values: ['id 777'] } },
  },
};

function readList(events: EventStore, { projectId }: Generated, list: Partial<EventListQuery>) {
  const all = { projectId, events: null, by: 'timestamp', from: 0, to: Date.now(), where: { all: [] } } as const;
  const page = { uuid: null, behind: null, isOldestFirst: false, limit: 100, maxBytes: 5_000_000 };
  return events.list({ ...all, ...page, ...list }, budget());
}

/** Compares results with those computed from how the events were generated, without the table and without persons. */
async function checkResults(
  client: ClickHouseClient,
  { size, run }: { size: Generated; run: (query: object) => Promise<unknown> },
): Promise<void> {
  const from = Math.floor(Date.now() / 86_400_000 - 30) * 86_400_000;
  const views = (number: string, first = from) =>
    `SELECT groupArray(number) FROM (SELECT ${number} AS number FROM (${selectGeneratedEvents(size, 'ms, event, owner')})
      WHERE event = '$pageview' AND ms >= ${first} GROUP BY intDiv(ms, 86400000) ORDER BY intDiv(ms, 86400000))`;
  const week = 6 * 86_400_000;
  const inWeek = `SELECT groupArray(number) FROM (SELECT uniqExact(owner) AS number
      FROM (SELECT owner, arrayJoin(range(intDiv(ms, 86400000), intDiv(ms, 86400000) + 7)) AS day
              FROM (${selectGeneratedEvents(size, 'ms, event, owner')}) WHERE event = '$pageview' AND ms >= ${from - week})
     WHERE day >= ${from / 86_400_000} AND day <= ${Math.floor(Date.now() / 86_400_000)} GROUP BY day ORDER BY day)`;
  for (const [query, text] of [
    [daily, views('count()')],
    [uniques, views('uniqExact(owner)')],
    [weekly, inWeek],
  ] as const) {
    const found = await client.query({ query: text, format: 'JSONCompactEachRow' });
    const [[expected] = [[]]] = await found.json<[number[]]>();
    const [series] = (await run(query)) as { data: number[] }[];
    if (JSON.stringify(series?.data) !== JSON.stringify(expected.map(Number)))
      throw new Error(`Wrong result of ${JSON.stringify(query)}: ${series?.data}, expected ${expected}`);
  }
}

/** The medians of several runs after one that fills the caches and of which only the memory is measured. */
async function measureRuns(client: ClickHouseClient, work: () => Promise<unknown>, runs: number): Promise<Measured> {
  const peakBytes = await measurePeak(client, work);
  const all: Omit<Measured, 'peakBytes'>[] = [];
  for (let at = 0; at < runs; at += 1) all.push(await measure(client, work));
  const of = (name: keyof Omit<Measured, 'peakBytes'>) => median(all.map((one) => one[name]));
  return {
    ...{ cpuMs: of('cpuMs'), rows: of('rows'), bytes: of('bytes'), peakBytes },
    ...{ apiMs: of('apiMs'), sentBytes: of('sentBytes'), ms: of('ms') },
  };
}

async function measurePeak(client: ClickHouseClient, work: () => Promise<unknown>): Promise<number> {
  let peakBytes = 0;
  const timer = setInterval(async () => {
    const [[peak] = [0]] = await select(client, 'SELECT max(peak_memory_usage) FROM system.processes').catch(() => []);
    peakBytes = Math.max(peakBytes, Number(peak));
  }, 200);
  await work().finally(() => clearInterval(timer));
  return peakBytes;
}

/** The server runs nothing else, so its counters are those of the query. The embedded engine has no `system.query_log`. */
async function measure(client: ClickHouseClient, work: () => Promise<unknown>): Promise<Omit<Measured, 'peakBytes'>> {
  const before = await readCounters(client);
  const [cpu, received] = [process.cpuUsage(), receivedBytes];
  const ms = await measureMs(work);
  const { user, system } = process.cpuUsage(cpu);
  const sentBytes = receivedBytes - received;
  const after = await readCounters(client);
  const spent = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  return {
    cpuMs: spent('OSCPUVirtualTimeMicroseconds') / 1000,
    rows: spent('SelectedRows'),
    bytes: spent('SelectedBytes'),
    apiMs: (user + system) / 1000,
    sentBytes,
    ms,
  };
}

/** Bytes of all responses, which only ClickHouse sends to this process over HTTP. */
let receivedBytes = 0;
const readBefore = new WeakMap<Socket, number>();
subscribe('http.client.response.finish', (message) => {
  const { socket } = (message as { response: IncomingMessage }).response;
  receivedBytes += socket.bytesRead - (readBefore.get(socket) ?? 0);
  readBefore.set(socket, socket.bytesRead);
});

async function readCounters(client: ClickHouseClient): Promise<Map<string, number>> {
  const rows = await select(client, 'SELECT event, value FROM system.events');
  return new Map(rows.map(([name, value]) => [String(name), Number(value)]));
}

const select = async (client: ClickHouseClient, query: string) =>
  (await client.query({ query, format: 'JSONCompactEachRow' })).json<unknown[]>();

const columnsOf = ({ cpuMs, rows, bytes, peakBytes, apiMs, sentBytes, ms }: Measured) =>
  [cpuMs, rows / 1e6, bytes / 1e6, peakBytes / 1e6, apiMs, sentBytes / 1e6, ms].map(readable);
