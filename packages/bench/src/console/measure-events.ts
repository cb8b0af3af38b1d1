// Measures how quickly the Events page shows the events of a large project.

import { prefillEvents } from '../drain/prefill.ts';
import { programs } from '../harness/bench.ts';
import { createBenchDatabase, generateProjectKey } from '../harness/bench-database.ts';
import type { ConsoleSystem } from './console-system.ts';
import { waitUntilDrawn, withTab } from './open-page.ts';

export type EventsRun = Awaited<ReturnType<typeof measureEvents>>;

const rows = '.list-detail table tbody tr';

/**
 * Measures the Events page of a project with many events, spread over the last month. The events are in a separate
 * database.
 */
export async function measureEvents(
  { bench, browser, directory }: ConsoleSystem,
  { events, visits }: { events: number; visits: number },
) {
  bench.print(`filling a project with ${events} events`);
  const database = await createBenchDatabase(generateProjectKey());
  bench.onEnd(() => database.drop());
  await prefillEvents(database, events);
  const api = await bench.start(programs.api, { DATABASE_URL: database.url, CONSOLE_DIRECTORY: directory });
  const { personalApiKey, projectId } = database;
  const host = `http://127.0.0.1:${api.port}`;
  /** The time until the page shows the first events of the last hour, and the part of this time that the API takes. */
  const [shownMs, apiMs]: [number[], number[]] = [[], []];
  for (let one = 0; one < visits; one += 1) {
    const startedAt = performance.now();
    const response = await fetch(`${host}/api/projects/${projectId}/events?after=-1h&limit=100`, {
      headers: { authorization: `Bearer ${personalApiKey}` },
    });
    await response.text();
    if (!response.ok) throw new Error(`The API returned ${response.status}.`);
    apiMs.push(performance.now() - startedAt);
    const page = `${host}/console/projects/${projectId}/events?after=-1h`;
    shownMs.push((await withTab(browser, { personalApiKey }, (tab) => waitUntilDrawn(tab, page, rows))).ms);
  }
  return { events, shownMs, apiMs };
}
