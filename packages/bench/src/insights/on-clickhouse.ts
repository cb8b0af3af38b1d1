// Benchmark of insight queries on ClickHouse, through the management API. Prints the CPU time, rows and bytes of each
// request, which are comparable even on a busy machine.

import { join } from 'node:path';
import { type ClickHouseClient, connectClickHouse } from '@millrace/insights';
import { installClickHouse, startClickHouse } from '@millrace/testing';
import { type Bench, programs, withBench } from '../harness/bench.ts';
import type { Print } from '../harness/command.ts';
import type { MeasuredProcess } from '../harness/measured-process.ts';
import { formatFigure, formatTable, median } from '../harness/report.ts';
import {
  type ApiRequest,
  apiRequests,
  cohortTargetMs,
  dashboardTargetMs,
  firstTileTargetMs,
  type Send,
  type Sent,
  tileRequests,
} from './api-requests.ts';
import { checkResults } from './check-results.ts';
import { ensureGeneratedEvents } from './generated-events.ts';
import { measureCohort } from './measure-cohort.ts';

export interface ClickHouseBenchOptions {
  events: number;
  pairs: number;
  /** Directory for ClickHouse's data, which the next run reuses. By default, a temporary directory is used. */
  data: string;
  /** If not empty, only requests whose names contain this string are measured. */
  only: string;
}

interface Cost {
  status: number;
  ms: number;
  cpuMs: number;
  rows: number;
  bytes: number;
  peakBytes: number;
  apiMs: number;
}

/**
 * Fills ClickHouse with events, and stores only the persons in PostgreSQL. Then measures all requests.
 * @throws Error if a result is wrong
 */
export async function benchOnClickHouse(options: ClickHouseBenchOptions, print: Print): Promise<void> {
  const { data } = options;
  const keptDatabase = data === '' ? undefined : join(data, 'project.json');
  await withBench(print, (bench) => fillAndMeasure(bench, options), { keptDatabase });
}

async function fillAndMeasure(bench: Bench, { events, pairs, data, only }: ClickHouseBenchOptions): Promise<string> {
  const { print } = bench;
  const server = await startClickHouse(await installClickHouse(), data === '' ? undefined : join(data, 'clickhouse'));
  bench.onEnd(() => server.stop());
  const client = connectClickHouse(server.url);
  bench.onEnd(() => client.close());
  const size = await ensureGeneratedEvents(bench, client, events);
  const settings = { EVENT_LOG: 'postgres', EVENT_STORE: 'clickhouse', CLICKHOUSE_URL: server.url };
  const api = await bench.start(programs.api, settings);
  const send: Send = (request) => sendRequest(bench, api, request);
  await checkResults(client, size, { send, print });
  const rows: string[][] = [];
  const measureAll = async (name: string, work: () => Promise<Sent>, targetMs?: number, runs = pairs) => {
    if (!name.includes(only)) return;
    print(name);
    // The first run only fills the caches.
    if (runs > 0) await work();
    const costs: Cost[] = [];
    for (let at = 0; at < Math.max(1, runs); at += 1) costs.push(await measureCost({ client, api }, work));
    const target = targetMs === undefined ? '' : formatFigure(Math.max(100, (targetMs * events) / 100_000_000));
    rows.push([name, ...columnsOf(costs), target]);
  };
  for (const request of apiRequests) await measureAll(request.name, () => send(request), request.targetMs);
  await measureAll('dashboard of eight tiles', async () => (await sendTiles(send)).complete, dashboardTargetMs);
  await measureAll('dashboard, until the first tile', async () => (await sendTiles(send)).first, firstTileTargetMs);
  await measureAll('cohort by a person property', () => measureCohort(bench, send, settings), cohortTargetMs, 0);
  const headings = ['', 'CPU ms', 'million rows', 'MB read', 'peak MB', 'API CPU ms', 'ms', 'target'];
  const memory = `memory of the API: ${formatFigure((await api.usage()).maxRssBytes / 2 ** 20)} MB`;
  return `${formatTable([headings, ...rows])}\n${memory}`;
}

async function sendRequest({ database }: Bench, api: MeasuredProcess, request: ApiRequest): Promise<Sent> {
  const startedAt = performance.now();
  const { path, body: content } = request;
  const response = await fetch(`http://127.0.0.1:${api.port}/api/projects/${database.projectId}/${path}`, {
    headers: { authorization: `Bearer ${database.personalApiKey}`, 'content-type': 'application/json' },
    ...(content !== undefined && { method: 'POST', body: JSON.stringify(content) }),
  });
  const body = await response.text();
  return { status: response.status, body, ms: performance.now() - startedAt };
}

/**
 * Loads a dashboard, two tiles at a time.
 * @returns the first response, and the last response with the total time
 */
async function sendTiles(send: Send): Promise<{ first: Sent; complete: Sent }> {
  const startedAt = performance.now();
  const waiting = [...tileRequests];
  const sent: Sent[] = [];
  const work = async () => {
    for (let tile = waiting.shift(); tile !== undefined; tile = waiting.shift()) sent.push(await send(tile));
  };
  await Promise.all([work(), work()]);
  const [first] = sent;
  const failed = sent.find(({ status }) => status !== 200);
  if (first === undefined) throw new Error('The dashboard has no tiles.');
  return { first, complete: { ...(failed ?? first), ms: performance.now() - startedAt } };
}

/**
 * Reads the server's counters. The server has no other work, so they measure only this request. The embedded engine has
 * no `system.query_log`.
 */
async function measureCost(
  { client, api }: { client: ClickHouseClient; api: MeasuredProcess },
  work: () => Promise<Sent>,
): Promise<Cost> {
  const before = await readCounters(client);
  const { cpuMicros } = await api.usage();
  let peakBytes = 0;
  const timer = setInterval(async () => {
    const [[peak] = [0]] = await select(client, 'SELECT max(peak_memory_usage) FROM system.processes').catch(() => []);
    peakBytes = Math.max(peakBytes, Number(peak));
  }, 200);
  const { status, ms } = await work().finally(() => clearInterval(timer));
  const apiMs = ((await api.usage()).cpuMicros - cpuMicros) / 1000;
  const after = await readCounters(client);
  const spent = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  const cpuMs = spent('OSCPUVirtualTimeMicroseconds') / 1000;
  return { status, ms, cpuMs, rows: spent('SelectedRows'), bytes: spent('SelectedBytes'), peakBytes, apiMs };
}

/** Returns the medians of all runs, and the status if a run failed. */
function columnsOf(costs: readonly Cost[]): string[] {
  const of = (name: keyof Cost) => median(costs.map((one) => one[name]));
  const failed = costs.find(({ status }) => status >= 300);
  const ms = `${formatFigure(of('ms'))}${failed === undefined ? '' : ` (${failed.status})`}`;
  return [
    ...[of('cpuMs'), of('rows') / 1e6, of('bytes') / 1e6, of('peakBytes') / 1e6, of('apiMs')].map(formatFigure),
    ms,
  ];
}

async function readCounters(client: ClickHouseClient): Promise<Map<string, number>> {
  const rows = await select(client, 'SELECT event, value FROM system.events');
  return new Map(rows.map(([name, value]) => [String(name), Number(value)]));
}

const select = async (client: ClickHouseClient, query: string) =>
  (await client.query({ query, format: 'JSONCompactEachRow' })).json<unknown[]>();
