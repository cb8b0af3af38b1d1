import { seededRandom } from '@millrace/testing/seeded-random';
import { measureRequests } from '../load/measure-load.ts';
import type { MeasuredProcess } from '../process/measured-process.ts';
import type { RequestLoops } from '../report/flags-report.ts';
import { median } from '../report/report.ts';
import type { BenchDatabase } from '../topic/bench-project.ts';
import { requestText } from '../workload/gateway-workloads.ts';

export interface QuestionOptions {
  pairs: number;
  seconds: number;
  connections: number;
  server: MeasuredProcess;
  load: MeasuredProcess;
  database: BenchDatabase;
  print(line: string): void;
}

const warmUpMs = 2000;
/** Of an open loop. */
const waitingConnections = 64;

/**
 * A closed loop (what can it do, at what CPU), then an open one.
 * @param perSecond of the open one; half of what the closed one could do when not given
 */
export async function measureQuestions(
  name: string,
  { requests, perSecond }: { requests: string[]; perSecond?: number },
  options: QuestionOptions,
): Promise<RequestLoops> {
  const durationMs = options.seconds * 1000;
  const closed = { requests, connections: options.connections, requestsPerSecond: null, durationMs };
  const measured: RequestLoops = { closed: [], open: [] };
  await measureRequests(options, { ...closed, durationMs: warmUpMs });
  for (let run = 1; run <= options.pairs; run++) {
    options.print(`${name}, run ${run} of ${options.pairs}`);
    measured.closed.push(await measureRequests(options, closed));
  }
  const requestsPerSecond = perSecond ?? median(measured.closed.map((run) => run.requestsPerSecond)) / 2;
  for (let run = 1; run <= options.pairs; run++) {
    options.print(`${name} at ${Math.round(requestsPerSecond)}/s, run ${run} of ${options.pairs}`);
    measured.open.push(
      await measureRequests(options, { ...closed, connections: waitingConnections, requestsPerSecond }),
    );
  }
  return measured;
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
  if (response.status !== 200) throw new Error(`A flag request returned ${response.status}: ${text}`);
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

/** For the definitions, as an SDK asks that has them already (`etag`) or not. */
export function definitionRequest(keys: { projectApiKey: string; secretKey: string }, etag: string | null): string {
  return requestText(`GET /flags/definitions?token=${keys.projectApiKey}&send_cohorts`, {
    Authorization: `Bearer ${keys.secretKey}`,
    'Accept-Encoding': 'gzip',
    ...(etag === null ? {} : { 'If-None-Match': etag }),
  });
}
