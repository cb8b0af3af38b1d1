/** Questions that are asked while events are stored. */
import { askOverApi } from '../insights/over-api.ts';
import { dashboardTiles } from '../insights/questions.ts';
import type { MeasuredProcess } from '../process/measured-process.ts';
import { percentile, readable, report, textTable } from '../report/report.ts';
import type { BenchDatabase } from '../topic/bench-project.ts';

/** Questions under way at once: as many as a project may have. */
const askers = 3;

interface Asked {
  /** Milliseconds of each that was answered. */
  answeredMs: number[];
  /** Answers with another status, by it. */
  others: Map<number, number>;
}

/** Asks one question after the other, each computed anew. */
export function askWithoutEnd(management: MeasuredProcess, database: BenchDatabase): { stop(): Promise<Asked> } {
  const asked: Asked = { answeredMs: [], others: new Map() };
  let isOver = false;
  const ask = async (query: object) => {
    const began = performance.now();
    const response = await askOverApi(management, database, { query, refresh: 'force_blocking' });
    if (response.ok) asked.answeredMs.push(performance.now() - began);
    else asked.others.set(response.status, (asked.others.get(response.status) ?? 0) + 1);
  };
  const work = async (first: number) => {
    for (let at = first; !isOver; at += 1) await ask(dashboardTiles[at % dashboardTiles.length] ?? {});
  };
  const workers = Array.from({ length: askers }, (_, at) => work(at));
  return {
    async stop() {
      isOver = true;
      await Promise.all(workers);
      return asked;
    },
  };
}

/** @param events how many times as long as alone it took until they were stored, at p95, and how many were refused */
export function besideReport(
  { answeredMs, others, maxRssBytes }: Asked & { maxRssBytes: number },
  events: { growth: number; refused: number },
): string {
  const figures = textTable([
    ['queries completed', 'p50 ms', 'p95 ms', 'queries failed', 'max RSS of the API, MB'],
    [
      readable(answeredMs.length),
      ...[0.5, 0.95].map((share) => readable(percentile(answeredMs, share))),
      [...others].map(([status, count]) => `${count} x ${status}`).join(', ') || '0',
      readable(maxRssBytes / 2 ** 20),
    ],
  ]);
  return report(
    [[`${askers} simultaneous queries during ingestion`, figures]],
    [
      ['ms until visible, p95, as a multiple of ingestion alone', events.growth, { atMost: 1.2 }],
      ['events not acknowledged', events.refused, { atMost: 0 }],
      ['RSS of the API, MB', maxRssBytes / 2 ** 20, { atMost: 250 }],
    ],
  );
}
