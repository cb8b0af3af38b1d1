/** Measures queries as clients run them: with cached results, and many at the same time. */
import { type Bench, programs } from '../harness/bench.ts';
import type { BenchDatabase } from '../harness/bench-database.ts';
import type { MeasuredProcess } from '../harness/measured-process.ts';
import { median } from '../harness/report.ts';
import { dashboardTiles } from './queries.ts';

/** Number of simultaneous queries in a project, of which only three can run at a time. */
export const simultaneousQueries = 20;
const rounds = 20;

export type OverApi = Awaited<ReturnType<typeof measureQueriesOverApi>>;

/**
 * Measures queries over the API.
 * @throws Error if a query fails for a reason other than too many simultaneous queries
 */
export async function measureQueriesOverApi({ start, database }: Bench) {
  const api = await start(programs.api, { EVENT_LOG: 'postgres' });
  let rejected = 0;
  const untilComplete = async (query: object, refresh: string): Promise<void> => {
    const response = await runQueryOverApi(api, database, { query, refresh });
    if (response.ok) return;
    if (response.status !== 429) throw new Error(`A query returned ${response.status}.`);
    rejected += 1;
    await new Promise((resolve) => setTimeout(resolve, Number(response.headers.get('retry-after') ?? 1) * 1000));
    return untilComplete(query, refresh);
  };
  for (const tile of dashboardTiles) await untilComplete(tile, 'blocking');
  const cached: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    cached.push(await measureMs(() => Promise.all(dashboardTiles.map((tile) => untilComplete(tile, 'blocking')))));
  }
  const all = Array.from({ length: simultaneousQueries }, (_, at) => dashboardTiles[at % dashboardTiles.length] ?? {});
  const crowdMs = await measureMs(() => Promise.all(all.map((tile) => untilComplete(tile, 'force_blocking'))));
  const { maxRssBytes } = await api.usage();
  return {
    /** Time until all tiles of a dashboard have arrived, from cached results. */
    cachedMs: median(cached),
    /** Time until all simultaneous queries are complete, including retries of rejected queries. */
    crowdMs,
    rejected,
    maxRssBytes,
  };
}

export async function runQueryOverApi(api: MeasuredProcess, database: BenchDatabase, body: object): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${api.port}/api/projects/${database.projectId}/query/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${database.personalApiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response;
}

export async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
