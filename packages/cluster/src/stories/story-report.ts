import type { Installation } from './install.ts';
import type { StoryResult } from './measure-story.ts';

export interface ClusterReport {
  /** What ran where, a line each. */
  surroundings: string[];
  installation: Installation['seconds'];
  results: StoryResult[];
  /** Stories that did not come to their end, with the reason. */
  failures: { name: string; reason: string }[];
}

const count = (value: number) => value.toLocaleString('en-US');

/** The report as a page, as it stands in `deploy/`. */
export function storyReport({ surroundings, installation, results, failures }: ClusterReport): string {
  const { ready, keys, visible } = installation;
  const rows = results.map((result) =>
    [
      ...[result.name, result.remark, count(Math.round(result.acknowledged / result.seconds))],
      ...(['acknowledged', 'refused', 'stored', 'lost', 'doubled', 'misordered'] as const).map((field) =>
        count(result[field]),
      ),
      (result.longestGapMs / 1000).toFixed(1),
    ].join(' | '),
  );
  const headings = [
    ...['what happened', 'what was seen', 'events/s', 'acknowledged', 'refused requests'],
    ...['stored', 'lost', 'doubled', 'misordered', 'longest gap, s'],
  ];
  const seconds = (value: number) => `${value.toFixed(0)} s`;
  return `# The chart on a real cluster

Written by \`npm run test:cluster\`. ${surroundings.join(' ')}

From an empty cluster to an event that was sent and read back, by the printed commands alone: **${((ready + keys + visible) / 60).toFixed(1)} minutes**
(\`helm upgrade --install --wait\` ${seconds(ready)}, \`millrace bootstrap\` ${seconds(keys)}, \`helm test\` ${seconds(visible)}).

Each row: clients send events all the time, each waiting for its answer and repeating what is refused, while it happens.
*Stored* also counts events whose answer never came. *Lost* is acknowledged and not stored; *doubled* is stored more than
once; *misordered* is stored before an earlier one of the same distinct id. The *longest gap* is the longest that any one
client waited from one acknowledgment to the next. *Events/s* is what the cores carried of 2,000 beside the cluster, its
stores and the clients, and whatever else the machine did.

| ${headings.join(' | ')} |
|${' --- |'.repeat(headings.length)}
${rows.map((row) => `| ${row} |`).join('\n')}
${failures.map(({ name, reason }) => `\nNot come to its end: ${name}: ${reason}\n`).join('')}`;
}
