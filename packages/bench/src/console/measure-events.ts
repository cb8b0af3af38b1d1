import { randomUUID } from 'node:crypto';
import { testServers } from '@millrace/testing';
import type { Browser } from 'playwright-core';
import { prefill } from '../drain/prefill.ts';
import { startMeasured, waitUntilReady } from '../process/measured-process.ts';
import type { EventsRun } from '../report/console-report.ts';
import { createBenchDatabase } from '../topic/bench-project.ts';
import { untilDrawn, type Visit, visit } from './open-page.ts';

const rows = '.list-detail table tbody tr';

/** Events of one project with so many of them, spread over the month, in a database of its own. */
export async function measureEvents(
  browser: Browser,
  { apiFile, directory, events, visits }: { apiFile: string; directory: string; events: number; visits: number },
): Promise<EventsRun> {
  const database = await createBenchDatabase(`phc_bench_${randomUUID().replaceAll('-', '')}`);
  const { personalApiKey, projectId } = database;
  try {
    await prefill(database, events);
    const api = await startMeasured(apiFile, {
      ...{ DATABASE_URL: database.url, REDIS_URL: testServers().redisUrl, API_PORT: '0', LOG_LEVEL: 'warn' },
      ...{ CONSOLE_DIRECTORY: directory, API_REQUESTS_PER_MINUTE: '0', API_REQUESTS_PER_HOUR: '0' },
    });
    try {
      await waitUntilReady(api.port);
      const host = `http://127.0.0.1:${api.port}`;
      const page = `${host}/console/projects/${projectId}/events`;
      const [shownMs, answeredMs]: [number[], number[]] = [[], []];
      for (let one = 0; one < visits; one += 1) {
        const startedAt = performance.now();
        const answer = await fetch(`${host}/api/projects/${projectId}/events?after=-1h&limit=100`, {
          headers: { authorization: `Bearer ${personalApiKey}` },
        });
        await answer.text();
        if (!answer.ok) throw new Error(`The API returned ${answer.status}.`);
        answeredMs.push(performance.now() - startedAt);
        const open = (tab: Visit) => untilDrawn(tab, `${page}?after=-1h`, rows);
        shownMs.push((await visit(browser, { personalApiKey }, open)).ms);
      }
      const filter = encodeURIComponent(
        JSON.stringify([{ key: '$os', value: 'Plan 9', operator: 'exact', type: 'event' }]),
      );
      const isWalkAnnounced = await visit(browser, { personalApiKey }, async ({ page: tab }) => {
        await tab.goto(`${page}?after=-30d&properties=${filter}`, { waitUntil: 'commit' });
        await tab.getByText('This filter reads every event of the time.').waitFor();
        return true;
      }).catch(() => false);
      return { events, shownMs, answeredMs, isWalkAnnounced };
    } finally {
      await api.stop();
    }
  } finally {
    await database.drop();
  }
}
