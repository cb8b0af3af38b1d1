import { seededRandom } from '@millrace/testing/seeded-random';
import type { LoadAnswer, LoadResult, RequestsLoadMessage } from '../load/measure-gateway.ts';
import { backendCpuBetween, readBackendCpu } from '../process/backend-cpu.ts';
import type { MeasuredProcess } from '../process/measured-process.ts';
import type { PersonReads, QuestionMeasurement, RequestRun } from '../report/flags-measurement.ts';
import { median } from '../report/report.ts';
import type { BenchDatabase } from '../topic/bench-project.ts';

export interface QuestionSide {
  name: 'millrace' | 'unleash';
  server: MeasuredProcess;
  requests: string[];
}

export interface QuestionOptions {
  pairs: number;
  seconds: number;
  connections: number;
  load: MeasuredProcess;
  database: BenchDatabase;
  print(line: string): void;
}

const warmUpMs = 2000;
/** Of an open loop. */
const waitingConnections = 64;

/** Turn about: a closed loop (what can it do, at what CPU), then an open one at half of what that side could do. */
export async function measureQuestions(
  sides: readonly QuestionSide[],
  options: QuestionOptions,
): Promise<QuestionMeasurement[]> {
  const durationMs = options.seconds * 1000;
  const closed = { connections: options.connections, requestsPerSecond: null, durationMs };
  const all = sides.map((side) => ({ side, closed: [] as RequestRun[], open: [] as RequestRun[] }));
  for (const { side } of all) await measureSide(side, { ...closed, durationMs: warmUpMs }, options);
  for (let pair = 1; pair <= options.pairs; pair++) {
    for (const { side, closed: runs } of all) {
      options.print(`questions, pair ${pair} of ${options.pairs}: ${side.name}`);
      runs.push(await measureSide(side, closed, options));
    }
  }
  for (let pair = 1; pair <= options.pairs; pair++) {
    for (const { side, closed: before, open: runs } of all) {
      const requestsPerSecond = median(before.map((run) => run.requestsPerSecond)) / 2;
      options.print(`questions at ${Math.round(requestsPerSecond)}/s, pair ${pair} of ${options.pairs}: ${side.name}`);
      runs.push(await measureSide(side, { connections: waitingConnections, requestsPerSecond, durationMs }, options));
    }
  }
  return all.flatMap(({ side, closed: closedRuns, open }) => [
    { side: side.name, loop: 'closed' as const, runs: closedRuns },
    { side: side.name, loop: 'open' as const, runs: open },
  ]);
}

/** Questions for which the person is read: a closed loop, and one at a steady rate. */
export async function measurePersonReads(
  { server, requests }: Pick<QuestionSide, 'server' | 'requests'>,
  { pairs, seconds, connections, ...options }: QuestionOptions,
): Promise<PersonReads> {
  const side = { name: 'millrace' as const, server, requests };
  const durationMs = seconds * 1000;
  const closed = { connections, requestsPerSecond: null, durationMs };
  const open = { connections: waitingConnections, requestsPerSecond: 1000, durationMs };
  const measured: PersonReads = { closed: [], open: [] };
  await measureSide(side, { ...closed, durationMs: warmUpMs }, options);
  for (let run = 1; run <= pairs; run++) {
    options.print(`questions with a person read, run ${run} of ${pairs}`);
    measured.closed.push(await measureSide(side, closed, options));
    measured.open.push(await measureSide(side, open, options));
  }
  return measured;
}

function measureSide(
  { server, requests }: QuestionSide,
  load: Omit<RequestLoad, 'requests'>,
  options: Pick<QuestionOptions, 'load' | 'database'>,
): Promise<RequestRun> {
  return measureRequests({ ...options, server }, { ...load, requests });
}

type RequestLoad = Omit<RequestsLoadMessage, 'type' | 'port'>;

/** Sends requests to a server and tells what one of them cost it, and PostgreSQL. */
export async function measureRequests(
  { server, load, database }: { server: MeasuredProcess; load: MeasuredProcess; database: BenchDatabase },
  requests: RequestLoad,
): Promise<RequestRun> {
  const look = async () => ({ own: await server.usage(), backends: await readBackendCpu(database) });
  const before = await look();
  const result = await sendLoad(load, { ...requests, port: server.port });
  const after = await look();
  const answered = result.acknowledgedRequests;
  return {
    requestsPerSecond: answered / (result.elapsedMs / 1000),
    cpuMicros: (after.own.cpuMicros - before.own.cpuMicros) / answered,
    databaseMicros: backendCpuBetween(before.backends, after.backends) / answered,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    maxRssBytes: after.own.maxRssBytes,
    otherStatuses: result.otherStatuses,
  };
}

/** @throws Error when the load generator failed. */
export async function sendLoad(load: MeasuredProcess, job: Omit<RequestsLoadMessage, 'type'>): Promise<LoadResult> {
  const message: RequestsLoadMessage = { type: 'requests-load', ...job };
  const answer = await load.ask<LoadAnswer>(message, 'load-result', 'load-failed');
  if (answer.type === 'load-failed') throw new Error(`The load generator failed: ${answer.message}`);
  return answer.result;
}

/** Somebody who asks for flags. */
export interface Asker {
  distinctId: string;
  /** All that the conditions look at. */
  properties: Record<string, string> & { signed_up_at: string };
}

const plans = ['free', 'pro', 'enterprise'];
const countries = ['DE', 'FR', 'US', 'GB', 'IE', 'JP', 'BR', 'IN'];

/** So many of them, the same in every run. Texts only: the same request then suits everybody who evaluates. */
export function askers(count: number): Asker[] {
  const random = seededRandom(15);
  const below = (limit: number) => Math.floor(random() * limit);
  const oneOf = (values: readonly string[]) => values[below(values.length)] ?? '';
  return Array.from({ length: count }, (_, index) => ({
    distinctId: `asker-${index}`,
    properties: {
      plan: oneOf(plans),
      country: oneOf(countries),
      age: String(18 + below(60)),
      email: `asker-${index}@${oneOf(['example.com', 'example.org'])}`,
      app_version: `${1 + below(3)}.${below(4)}.${below(10)}`,
      signed_up_at: `20${23 + below(4)}-0${1 + below(9)}-1${below(10)}T08:00:00Z`,
    },
  }));
}

/** Asks a gateway once. @returns how many flags are on. @throws Error for any answer but 200. */
export async function askFlags(
  port: number,
  projectApiKey: string,
  { distinctId, properties }: Asker,
): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/flags/?v=2`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: projectApiKey, distinct_id: distinctId, person_properties: properties }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`A question for flags was answered with ${response.status}: ${text}`);
  const { flags } = JSON.parse(text) as { flags: Record<string, { enabled: boolean }> };
  return Object.values(flags).filter(({ enabled }) => enabled).length;
}

/** Whole HTTP requests as text, made before the clock runs. Browsers and servers ask alike: a POST with a body of JSON. */

/** Who asks says all that conditions look at: nothing stored is needed. */
export function questionWithProperties(projectApiKey: string, { distinctId, properties }: Asker): string {
  return question({ api_key: projectApiKey, distinct_id: distinctId, person_properties: properties, groups: {} });
}

/** Only the id: the person is read. */
export function questionById(projectApiKey: string, { distinctId }: Asker): string {
  return question({ api_key: projectApiKey, distinct_id: distinctId, groups: {} });
}

function question(body: object): string {
  return requestText('POST /flags/?v=2', {}, body);
}

/** The same question to the front-end API of Unleash. */
export function unleashQuestion(token: string, asker: Asker): string {
  return requestText('POST /api/frontend', { Authorization: token }, { context: unleashContext(asker) });
}

export function unleashContext({ distinctId, properties }: Asker): object {
  const signedUpAt = String(Date.parse(properties.signed_up_at));
  return { userId: distinctId, properties: { ...properties, signed_up_at: signedUpAt } };
}

/** For the definitions, as an SDK asks that has them already (`etag`) or not. */
export function definitionRequest(keys: { projectApiKey: string; secretKey: string }, etag: string | null): string {
  return requestText(`GET /flags/definitions?token=${keys.projectApiKey}&send_cohorts`, {
    Authorization: `Bearer ${keys.secretKey}`,
    'Accept-Encoding': 'gzip',
    ...(etag === null ? {} : { 'If-None-Match': etag }),
  });
}

function requestText(line: string, headers: Record<string, string>, body?: object): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const all: Record<string, string> = {
    Host: '127.0.0.1',
    ...headers,
    ...(body === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
}
