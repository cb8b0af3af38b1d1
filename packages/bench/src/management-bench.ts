import { randomUUID } from 'node:crypto';
import { compilePrograms, testServers } from '@millrace/testing';
import type { GetLoadMessage, LoadAnswer } from './load/load-job.ts';
import { addMembers } from './management/add-members.ts';
import { backendCpuBetween, readBackendCpu } from './process/backend-cpu.ts';
import { type MeasuredProcess, startMeasured } from './process/measured-process.ts';
import { startStatementCounter } from './process/statement-counter.ts';
import { waitUntilReady } from './process/wait-until-ready.ts';
import { processorFacts, serverFacts } from './report/environment-facts.ts';
import { type ListMeasurement, managementReport } from './report/management-report.ts';
import { median } from './report/statistics.ts';
import { addProjects } from './topic/add-projects.ts';
import { type BenchDatabase, createBenchDatabase } from './topic/bench-project.ts';

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
  const run = async (durationMs: number) => {
    const headers = { authorization: `Bearer ${database.personalApiKey}` };
    const message: GetLoadMessage = {
      type: 'get-load',
      port: api.port,
      path,
      headers,
      connections,
      requestsPerSecond: null,
      durationMs,
    };
    const answer = await load.ask<LoadAnswer>(message, 'load-result', 'load-failed');
    if (answer.type === 'load-failed') throw new Error(`The load generator failed: ${answer.message}`);
    return answer.result;
  };
  await run(warmUpMs);
  const look = async () => ({ own: await api.usage(), backends: await readBackendCpu(database) });
  const before = await look();
  const result = await run(seconds * 1000);
  const after = await look();
  const requests = result.acknowledgedRequests;
  return {
    requestsPerSecond: requests / (result.elapsedMs / 1000),
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    cpuMicrosPerRequest: (after.own.cpuMicros - before.own.cpuMicros) / requests,
    databaseMicrosPerRequest: backendCpuBetween(before.backends, after.backends) / requests,
    otherStatuses: result.otherStatuses,
  };
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
