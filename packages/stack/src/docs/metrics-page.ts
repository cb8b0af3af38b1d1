import { formatMarkdownTable, readSourceFiles } from './documents.ts';

/** Lists every metric with its type, labels and help text, based on the calls that register metrics. */
export async function generateMetricsPage(root: string): Promise<string> {
  const files = await readSourceFiles(root, ['services', 'packages'], ['.ts']);
  const byOwner = new Map<string, Registration[]>();
  for (const { path, text } of files) {
    // Not all services use all subdirectories of packages/runtime, so each subdirectory has its own section.
    const owner = path
      .split('/')
      .slice(0, /^packages\/runtime\/src\/\w+\//.test(path) ? 4 : 2)
      .join('/');
    if (withoutMetrics.has(owner) || path.includes('.test.') || path.includes('/testing/')) continue;
    byOwner.set(owner, [...(byOwner.get(owner) ?? []), ...readRegistrations(text, path)]);
  }
  const owners = [...byOwner].filter(([, found]) => found.length > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${introduction}\n${owners.map(([owner, found]) => section(owner, found)).join('\n')}`;
}

/** Packages that can register metrics, but that no service uses. */
const withoutMetrics = new Set(['packages/bench', 'packages/stack']);

const introduction = `# Metrics

This page lists all metrics. [Alerts](operations/alerts.md) explains which of them to watch, and what to do when an alert fires.
\`npm run docs\` generates this page from the source code.

Each service serves \`/metrics\` in the Prometheus text format. The response contains the metrics of the service, the metrics of the packages
that it uses, and the process metrics of \`prom-client\` (\`process_…\`, \`nodejs_…\`). When one process runs all services, the label
\`service\` of each series names the service.

| Metrics of | Reported by |
| --- | --- |
| \`packages/db\`, \`packages/event-log\`, \`packages/runtime/src/tracing\` | gateway, consumer |
| \`packages/http\` | management API |
| \`packages/runtime/src/mail\` | management API, delivery worker |
| \`packages/runtime\` | all services |
`;

function section(owner: string, registrations: Registration[]): string {
  const rows = [...registrations]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labels, help }) => [
      `\`${name}\``,
      type,
      labels.map((label) => `\`${label}\``).join(', '),
      help.replace(/\.$/, ''),
    ]);
  return `## ${owner}\n\n${formatMarkdownTable(['Metric', 'Type', 'Labels', 'Meaning'], rows)}\n`;
}

interface Registration {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: string[];
}

const call = /metrics\??\.(counter|gauge|histogram)\(/g;
/** Matches one row of a table of gauges that differ only in name and help text. */
const gaugeRow = /\[\s*('millrace_\w+'),\s*('[^']*'|"[^"]*"),/g;

/**
 * Finds the metrics that a source file registers. Parses the source text, because running the registrations would
 * require servers. Names and help texts must be literals, and anything else is an error, so that no metric is missing
 * in the documents.
 * @throws Error that names the file
 */
export function readRegistrations(source: string, path: string): Registration[] {
  const found: Registration[] = [...source.matchAll(gaugeRow)].map(([, name = '', help = '']) => ({
    name: unquoted(name),
    type: 'gauge',
    help: unquoted(help),
    labels: [],
  }));
  const hasRows = found.length > 0;
  for (const match of source.matchAll(call)) {
    const type = match[1] as Registration['type'];
    const parts = splitArguments(source, match.index + match[0].length);
    const [name = '', help = ''] = parts;
    if (!isQuoted(name) || !isQuoted(help)) {
      if (hasRows) continue;
      throw new Error(`${path}: the name and the help text of a metric must be string literals: ${name.slice(0, 60)}`);
    }
    found.push({ name: unquoted(name), type, help: unquoted(help), labels: labelsOf(type, parts, source) });
  }
  return found;
}

function labelsOf(type: Registration['type'], parts: string[], source: string): string[] {
  const given = parts[type === 'histogram' ? 3 : 2] ?? '';
  const list = /^\w+$/.test(given) ? (new RegExp(`const ${given} = (\\[[^\\]]*\\])`).exec(source)?.[1] ?? '') : given;
  return [...list.matchAll(/'([^']+)'/g)].map(([, label = '']) => label);
}

/** Parses a call's arguments. `from` is the position in the source text after the call's opening parenthesis. */
function splitArguments(source: string, from: number): string[] {
  const parts = [''];
  let depth = 0;
  let quote = '';
  for (const character of source.slice(from)) {
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (`'"\``.includes(character)) quote = character;
    else if ('([{'.includes(character)) depth++;
    else if (')]}'.includes(character)) {
      if (depth === 0) break;
      depth--;
    } else if (character === ',' && depth === 0) {
      parts.push('');
      continue;
    }
    parts.push(`${parts.pop()}${character}`);
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function isQuoted(text: string): boolean {
  return /^(?:'[^']*'|"[^"]*"|`[^`]*`)$/.test(text);
}

function unquoted(text: string): string {
  return text.slice(1, -1);
}
