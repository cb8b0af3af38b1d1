import type { Installation } from './install.ts';
import type { StoryResult } from './story.ts';

export interface ClusterReport {
  /** What ran where, a line each. */
  surroundings: string[];
  installation: Installation['seconds'];
  /** That clients captured. */
  eventsPerSecond: number;
  results: StoryResult[];
  /** Stories that did not end, with the reason. */
  failures: { name: string; reason: string }[];
}

const count = (value: number) => value.toLocaleString('en-US');

/** `5: 3 × no answer, 2 × 503` */
export function refusals({ refused, refusals }: Pick<StoryResult, 'refused' | 'refusals'>): string {
  const reasons = [...refusals].map(([status, times]) => `${count(times)} × ${status || 'no answer'}`);
  return refused === 0 ? '0' : `${count(refused)}: ${reasons.join(', ')}`;
}

/** The report as a page, as it stands in `deploy/`. */
export function storyReport({ surroundings, installation, eventsPerSecond, results, failures }: ClusterReport): string {
  const { ready, keys, visible } = installation;
  const rows = results.map((result) =>
    [
      ...[result.name, result.remark, count(Math.round(result.acknowledged / result.seconds))],
      ...[count(result.acknowledged), refusals(result)],
      ...(['stored', 'lost', 'doubled', 'misordered'] as const).map((field) => count(result[field])),
      (result.longestGapMs / 1000).toFixed(1),
    ].join(' | '),
  );
  const headings = [
    ...['what happened', 'what was seen', 'carried/s', 'acknowledged', 'refused requests'],
    ...['stored', 'lost', 'doubled', 'misordered', 'longest gap, s'],
  ];
  const seconds = (value: number) => `${value.toFixed(0)} s`;
  return `# The chart on a real cluster

Written by \`npm run test:cluster\`. ${surroundings.join(' ')}

From an empty cluster to an event that was sent and read back, by the printed commands alone: **${((ready + keys + visible) / 60).toFixed(1)} minutes**
(\`helm upgrade --install --wait\` ${seconds(ready)}, \`millrace bootstrap\` ${seconds(keys)}, \`helm test\` ${seconds(visible)}).

Each row: 48 clients capture **${count(eventsPerSecond)} events/s** all the time, whatever happens, and send them as SDKs do: 38 servers 20 and more in a request,
10 visitors one by one, and what has to wait or was refused in larger requests later. *Carried/s* is what was acknowledged of it: less
than what was captured where some was still waiting at the end. *Stored* also counts events whose answer never came. *Lost* is acknowledged and
not stored; *doubled* is stored more than once; *misordered* is stored before an earlier one of the same distinct id. The *longest gap* is
the longest that any one client waited from one acknowledgment to the next; of a server it is 0.4 s when all is well. The cores also run the cluster, its stores
and the clients.

| ${headings.join(' | ')} |
|${' --- |'.repeat(headings.length)}
${rows.map((row) => `| ${row} |`).join('\n')}
${failures.map(({ name, reason }) => `\nNot come to its end: ${name}: ${reason}\n`).join('')}`;
}
