import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../testing/render-chart.ts';
import { alertCaseFiles, alertCases, alertRules } from './alert-rules.ts';
import { findUnknownMetrics } from './metric-names.ts';
import { runPromtool } from './promtool.ts';

const headings = new Set(
  [...readFileSync(join(root, 'docs/operations/alerts.md'), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title.toLowerCase(),
  ),
);

test('each alert fires on its own test series, but not on similar series', async () => {
  const { status, output } = await runPromtool('test', 'rules', ...alertCaseFiles);
  expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
}, 600_000);

test('every alert has test series that make it fire and test series that do not', () => {
  const covered = alertCases.map(({ name }) => name);
  expect(alertRules.length).toBeGreaterThan(25);
  for (const { alert } of alertRules)
    expect(covered).toEqual(expect.arrayContaining([`${alert} fires`, `${alert} is quiet`]));
});

test.each(alertRules)(
  'the alert $alert uses only existing metrics, and gives advice',
  ({ expr, labels, annotations }) => {
    expect(findUnknownMetrics(expr)).toEqual([]);
    expect(['page', 'ticket']).toContain(labels.severity);
    expect(annotations.description).toContain('First, ');
    const [page, heading = ''] = annotations.runbook.split('#');
    expect([page, headings.has(heading)]).toEqual(['docs/operations/alerts.md', true]);
  },
);
