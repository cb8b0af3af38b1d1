import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { debianFiles } from '@millrace/cluster';
import { runProgram } from '@millrace/stack/src/process/run-program.ts';
import { parse } from 'yaml';
import { unknownMetrics } from './metric-names.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const rulesDirectory = join(root, 'deploy/observability/rules');
const casesDirectory = fileURLToPath(new URL('./alert-cases/', import.meta.url));
const caseFiles = readdirSync(casesDirectory).map((file) => join(casesDirectory, file));

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

const rules = readdirSync(rulesDirectory).flatMap((file) => {
  const { groups } = parse(readFileSync(join(rulesDirectory, file), 'utf8')) as { groups: { rules: Rule[] }[] };
  return groups.flatMap((group) => group.rules);
});

const headings = new Set(
  [...readFileSync(join(root, 'docs/operations.md'), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title.toLowerCase(),
  ),
);

/** The tool of Prometheus that runs rules over made-up figures. */
async function promtool(...programArguments: string[]) {
  const files = await debianFiles('prometheus', ['prometheus']);
  return runProgram(join(files, 'usr/bin/promtool'), programArguments, { cwd: root });
}

test('each alert fires on the figures it is for, and is quiet on those that look alike', async () => {
  const { status, output } = await promtool('test', 'rules', ...caseFiles);
  expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
}, 600_000);

test('each alert has such figures', () => {
  const covered = caseFiles.flatMap((file) => {
    const { tests } = parse(readFileSync(file, 'utf8')) as { tests: { name: string }[] };
    return tests.map(({ name }) => name);
  });
  expect(rules.length).toBeGreaterThan(25);
  for (const { alert } of rules)
    expect(covered).toEqual(expect.arrayContaining([`${alert} fires`, `${alert} is quiet`]));
});

test.each(rules)('$alert asks for metrics that exist, and says what to do', ({ expr, labels, annotations }) => {
  expect(unknownMetrics(expr)).toEqual([]);
  expect(['page', 'ticket']).toContain(labels.severity);
  const [page, heading = ''] = annotations.runbook.split('#');
  expect([page, headings.has(heading)]).toEqual(['docs/operations.md', true]);
});
