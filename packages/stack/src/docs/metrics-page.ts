import { markdownTable } from './markdown-table.ts';
import { type Registration, readRegistrations } from './read-registrations.ts';
import { sourceFiles } from './source-files.ts';

/** Every metric with type, labels and help, from the places in the source that register them. */
export async function metricsPage(root: string): Promise<string> {
  const files = await sourceFiles(root, ['services', 'packages'], ['.ts']);
  const byRoom = new Map<string, Registration[]>();
  for (const { path, text } of files) {
    const room = path.split('/').slice(0, 2).join('/');
    if (notServed.has(room) || path.includes('.test.') || path.includes('/testing/')) continue;
    byRoom.set(room, [...(byRoom.get(room) ?? []), ...readRegistrations(text, path)]);
  }
  const rooms = [...byRoom].filter(([, found]) => found.length > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${introduction}\n${rooms.map(([room, found]) => section(room, found)).join('\n')}`;
}

/** They register nothing that a service shows. */
const notServed = new Set(['packages/bench', 'packages/cluster', 'packages/stack', 'packages/testing']);

const introduction = `# Metrics

Written by \`npm run docs\` from the registrations in the source; a test fails when this page is stale. [Operations](operations.md#alerts-and-what-to-do)
says which of them to watch and what to do.

Each service answers \`/metrics\` in the format of Prometheus, with the metrics of its own folder and of the packages it uses
(\`packages/event-log\`, \`packages/db\` and \`packages/tracing\`: gateway and consumer; \`packages/http\`: management API; \`packages/mail\`: management
API and delivery worker; \`packages/runtime\`: all), and with the process metrics of \`prom-client\` (\`process_…\`, \`nodejs_…\`).
`;

function section(room: string, registrations: Registration[]): string {
  const rows = [...registrations]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labels, help }) => [
      `\`${name}\``,
      type,
      labels.map((label) => `\`${label}\``).join(', '),
      help.replace(/\.$/, ''),
    ]);
  return `## ${room}\n\n${markdownTable(['Metric', 'Type', 'Labels', 'Meaning'], rows)}\n`;
}
