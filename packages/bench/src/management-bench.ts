import { randomUUID } from 'node:crypto';
import { compilePrograms, testServers } from '@millrace/testing';
import { measureRequests, sendLoad } from './load/measure-load.ts';
import { type MeasuredProcess, startMeasured, waitUntilReady } from './process/measured-process.ts';
import { startStatementCounter } from './process/statements.ts';
import { everyRun, median, processorFacts, type RequestRun, report, serverFacts, statusesIn } from './report/report.ts';
import { addProjects, type BenchDatabase, createBenchDatabase } from './topic/bench-project.ts';
import { requestText } from './workload/gateway-workloads.ts';

export interface ManagementBenchOptions {
  connections: number;
  /** Length of one run. */
  seconds: number;
}

type Size = ListMeasurement['size'];

const sizes: Record<Size, { projects: number; members: number }> = {
  small: { projects: 10, members: 10 },
  large: { projects: 10_000, members: 100_000 },
};
/** The same page of both sizes, so that only what lies behind it differs. */
const pageSize = 10;
const starts = 3;
const warmUpMs = 2000;

/** Lists of the management API under a closed loop: of a small organization, then of a large one. */
export async function benchManagement(options: ManagementBenchOptions, print: (line: string) => void): Promise<void> {
  const database = await createBenchDatabase(`phc_bench_${randomUUID().replaceAll('-', '')}`);
  const started: MeasuredProcess[] = [];
  let removePrograms = async () => {};
  try {
    for (const line of [...processorFacts(), ...(await serverFacts(database))]) print(line);
    const programs = await compilePrograms([
      'services/management-api/src/main.ts',
      'packages/bench/src/load/load-generator.ts',
    ]);
    removePrograms = programs.remove;
    const [apiFile = '', loadFile = ''] = programs.files;
    const startApi = async (databaseUrl: string) => {
      const api = await startMeasured(apiFile, {
        DATABASE_URL: databaseUrl,
        REDIS_URL: testServers().redisUrl,
        API_PORT: '0',
        LOG_LEVEL: 'warn',
        // Counted as always, never reached.
        API_REQUESTS_PER_MINUTE: '1000000000',
        API_REQUESTS_PER_HOUR: '1000000000',
      });
      started.push(api);
      await waitUntilReady(api.port);
      return api;
    };

    const readySeconds: number[] = [];
    for (let start = 1; start <= starts; start++) {
      print(`start ${start} of ${starts}`);
      const spawnedAt = performance.now();
      const api = await startApi(database.url);
      readySeconds.push((performance.now() - spawnedAt) / 1000);
      await api.stop();
    }
    const api = await startApi(database.url);
    const load = await startMeasured(loadFile);
    started.push(load);
    const lists: ListMeasurement[] = [];
    for (const size of ['small', 'large'] as const) {
      await growTo(size, database);
      for (const [list, path] of Object.entries(listPaths(database))) {
        print(`${list}, ${sizes[size].projects} projects and ${sizes[size].members} members`);
        const measured = await measureList({ api, load, path }, options, database);
        const statementsPerRequest = await countStatements(startApi, path, database);
        lists.push({ list, size, statementsPerRequest, ...measured });
      }
    }
    const { maxRssBytes } = await api.usage();
    print('');
    print(managementReport({ lists, readySeconds, maxRssBytes }, 'projects'));
  } finally {
    for (const one of started.reverse()) await one.stop();
    await database.drop();
    await removePrograms();
  }
}

function listPaths({ organizationId }: BenchDatabase): Record<string, string> {
  return {
    projects: `/api/projects/?limit=${pageSize}`,
    'projects of the organization': `/api/organizations/${organizationId}/projects/?limit=${pageSize}`,
    members: `/api/organizations/${organizationId}/members/?limit=${pageSize}`,
  };
}

async function growTo(size: Size, database: BenchDatabase): Promise<void> {
  const [now] = await database.query<{ projects: number; members: number }>(
    'SELECT (SELECT count(*)::int FROM project) AS projects, (SELECT count(*)::int FROM membership) AS members',
  );
  const keys = Array.from({ length: sizes[size].projects - (now?.projects ?? 0) }, () => `phc_bench_${randomUUID()}`);
  await addProjects(database, keys);
  await addMembers(database, sizes[size].members - (now?.members ?? 0));
  await database.query('ANALYZE');
}

async function measureList(
  { api, load, path }: { api: MeasuredProcess; load: MeasuredProcess; path: string },
  { connections, seconds }: ManagementBenchOptions,
  database: BenchDatabase,
) {
  const requests = [requestText(`GET ${path}`, { authorization: `Bearer ${database.personalApiKey}` })];
  const job = { requests, connections, requestsPerSecond: null };
  await sendLoad(load, { ...job, port: api.port, durationMs: warmUpMs });
  return measureRequests({ server: api, load, database }, { ...job, durationMs: seconds * 1000 });
}

/** Statements of one request, the median of several: what the service asks for itself in between does not count. */
async function countStatements(
  startApi: (databaseUrl: string) => Promise<MeasuredProcess>,
  path: string,
  database: BenchDatabase,
): Promise<number> {
  const counter = await startStatementCounter(database.url);
  const api = await startApi(counter.url);
  try {
    const counts: number[] = [];
    for (let request = 0; request < 15; request++) {
      const before = counter.count();
      const response = await fetch(`http://127.0.0.1:${api.port}${path}`, {
        headers: { authorization: `Bearer ${database.personalApiKey}` },
      });
      await response.arrayBuffer();
      counts.push(counter.count() - before);
    }
    return median(counts);
  } finally {
    await api.stop();
    await counter.stop();
  }
}

export interface ListMeasurement extends RequestRun {
  /** Which list, e.g. `projects`. */
  list: string;
  size: 'small' | 'large';
  statementsPerRequest: number;
}

export interface ManagementMeasurement {
  lists: ListMeasurement[];
  /** From the start of the process to the first ready answer, one for each start. */
  readySeconds: number[];
  maxRssBytes: number;
}

/** @param mainList the list whose small size the targets of speed are for. */
export function managementReport(
  { lists, readySeconds, maxRssBytes }: ManagementMeasurement,
  mainList: string,
): string {
  const small = (sought: string) => lists.find(({ list, size }) => list === sought && size === 'small');
  const main = small(mainList);
  const large = lists.filter(({ size }) => size === 'large');
  // Of nothing it would be -Infinity, and below any target.
  const slowest = large.length === 0 ? Number.NaN : Math.max(...large.map(({ p99Ms }) => p99Ms));
  const growing = large.filter((run) => run.statementsPerRequest !== small(run.list)?.statementsPerRequest);
  const failed = lists.filter(({ otherStatuses }) => Object.keys(otherStatuses).length > 0);
  const table = everyRun(lists, ({ list, size }) => `${list}, ${size}`, {
    'requests/s': (run) => run.requestsPerSecond,
    'p50 ms': (run) => run.p50Ms,
    'p99 ms': (run) => run.p99Ms,
    'cpu µs/request': (run) => run.cpuMicros,
    'postgresql µs/request': (run) => run.databaseMicros,
    statements: (run) => run.statementsPerRequest,
    'other responses': (run) => statusesIn(run.otherStatuses),
  });
  return report(
    [['', table]],
    [
      [`requests/s of ${mainList}`, main?.requestsPerSecond ?? Number.NaN, { atLeast: 1500 }],
      [`p99 ms of ${mainList}`, main?.p99Ms ?? Number.NaN, { atMost: 20 }],
      ['p99 ms of the slowest list of the large organization', slowest, { atMost: 20 }],
      ['lists whose number of statements grows with their size', growing.length, { atMost: 0 }],
      ['lists with a status other than 200', failed.length, { atMost: 0 }],
      ['max RSS MB', maxRssBytes / 2 ** 20, { atMost: 200 }],
      ['seconds until ready', median(readySeconds), { atMost: 1.5 }],
    ],
  );
}

/** Adds so many users to the database's organization, as plain members. */
async function addMembers(database: BenchDatabase, count: number): Promise<void> {
  await database.query(
    `WITH added AS (
       INSERT INTO "user" (uuid, distinct_id, email, first_name)
       SELECT gen_random_uuid(), 'bench-' || gen_random_uuid(), gen_random_uuid() || '@bench.example', 'Member ' || number
         FROM generate_series(1, $2::int) AS number
       RETURNING id)
     INSERT INTO membership (id, organization_id, user_id, joined_at)
     SELECT gen_random_uuid(), $1, id, now() + row_number() OVER (ORDER BY id) * interval '1 millisecond' FROM added`,
    [database.organizationId, count],
  );
}
