/** Questions as clients ask them: kept answers, and many at once. */
import { compilePrograms, testServers } from '@millrace/testing';
import { type MeasuredProcess, startMeasured, waitUntilReady } from '../process/measured-process.ts';
import { median } from '../report/report.ts';
import type { BenchDatabase } from '../topic/bench-project.ts';
import { dashboardTiles } from './questions.ts';

/** Asked at once, of a project that has three under way at a time. */
export const crowd = 20;
const rounds = 20;

export interface OverApi {
  /** Until all tiles of a dashboard were answered from what is kept. */
  keptMs: number;
  /** Until the crowd was answered, whoever was sent away and came again included. */
  crowdMs: number;
  sentAway: number;
  maxRssBytes: number;
}

/** @throws Error when a question is refused for another reason than that too many are under way. */
export async function measureOverApi(database: BenchDatabase): Promise<OverApi> {
  const programs = await compilePrograms(['services/management-api/src/main.ts']);
  let management: MeasuredProcess | undefined;
  try {
    management = await startMeasured(programs.files[0] ?? '', {
      DATABASE_URL: database.url,
      REDIS_URL: testServers().redisUrl,
      EVENT_LOG: 'postgres',
      LOG_LEVEL: 'warn',
      HEALTH_PORT: '0',
      API_PORT: '0',
      ...unlimited,
    });
    await waitUntilReady(management.port);
    return await measure(management, database);
  } finally {
    await management?.stop();
    await programs.remove();
  }
}

/** Counted as always, never reached. */
export const unlimited = { API_REQUESTS_PER_MINUTE: '1000000000', API_REQUESTS_PER_HOUR: '1000000000' };

async function measure(management: MeasuredProcess, database: BenchDatabase): Promise<OverApi> {
  let sentAway = 0;
  const untilAnswered = async (query: object, refresh: string): Promise<void> => {
    const response = await askOverApi(management, database, { query, refresh });
    if (response.ok) return;
    if (response.status !== 429) throw new Error(`A query returned ${response.status}.`);
    sentAway += 1;
    await new Promise((resolve) => setTimeout(resolve, Number(response.headers.get('retry-after') ?? 1) * 1000));
    return untilAnswered(query, refresh);
  };
  for (const tile of dashboardTiles) await untilAnswered(tile, 'blocking');
  const kept = [];
  for (let round = 0; round < rounds; round += 1)
    kept.push(await timed(() => Promise.all(dashboardTiles.map((tile) => untilAnswered(tile, 'blocking')))));
  const all = Array.from({ length: crowd }, (_, at) => dashboardTiles[at % dashboardTiles.length] ?? {});
  const crowdMs = await timed(() => Promise.all(all.map((tile) => untilAnswered(tile, 'force_blocking'))));
  const { maxRssBytes } = await management.usage();
  return { keptMs: median(kept), crowdMs, sentAway, maxRssBytes };
}

export async function askOverApi(
  management: MeasuredProcess,
  database: BenchDatabase,
  body: object,
): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${management.port}/api/projects/${database.projectId}/query/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${database.personalApiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response;
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
