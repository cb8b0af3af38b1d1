// Starts the system that the console benchmark measures.

import { writeConsole } from '@millrace/console/bundle';
import { topicNames } from '@millrace/contracts';
import type { Browser } from 'playwright-core';
import { type Bench, programs } from '../harness/bench.ts';
import { addProjects, generateProjectKey } from '../harness/bench-database.ts';
import { createFillerProperties, formatHttpRequest } from '../workload/gateway-workloads.ts';

export interface BenchProject {
  id: number;
  apiKey: string;
}

export type ConsoleSystem = Awaited<ReturnType<typeof startConsoleSystem>>;

/**
 * Starts the gateway, the consumer and the management API, with the built console and live events.
 * @param projectCount the number of projects, at least 2
 */
export async function startConsoleSystem(
  bench: Bench,
  { browser, directory, projectCount }: { browser: Browser; directory: string; projectCount: number },
) {
  const { sizes } = await writeConsole(directory);
  await addProjects(bench.database, Array.from({ length: projectCount - 1 }, generateProjectKey));
  const settings = {
    CONSOLE_DIRECTORY: directory,
    PUBLISH_PROCESSED: 'on',
    LIVE_STREAMS_PER_USER: '100000',
    LIVE_STREAMS_PER_PROJECT: '100000',
    LIVE_STREAMS_PER_PROCESS: '100000',
  };
  const gateway = await bench.start(programs.gateway, settings);
  await bench.start(programs.consumer, settings);
  const api = await bench.start(programs.api, settings);
  const workers = {
    events: await bench.startWorker(),
    publisher: await bench.startWorker(),
    requests: await bench.startWorker(),
    streams: await bench.startWorker(),
  };
  /** The console shows the first project. The last project has few events. */
  const projects = await bench.database.query<BenchProject>(
    'SELECT id, api_token AS "apiKey" FROM environment ORDER BY id',
  );
  const processedTopic = topicNames(bench.prefix).processed;
  return { bench, browser, directory, sizes, gateway, api, workers, processedTopic, projects };
}

export const eventsPerBatch = 25;

/**
 * Builds complete requests for a project with events of 1 KB. The events have no UUID and no time, so that repeating a
 * request creates new events.
 */
export function buildBatchRequests(project: BenchProject | undefined, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const batch = Array.from({ length: eventsPerBatch }, (_unused, index) => ({
      event: index % 3 === 0 ? 'order placed' : '$pageview',
      distinct_id: `visitor-${at}-${index}`,
      properties: createFillerProperties(at * eventsPerBatch + index, 900),
    }));
    return formatHttpRequest('POST /batch/', {}, { api_key: project?.apiKey, batch });
  });
}
