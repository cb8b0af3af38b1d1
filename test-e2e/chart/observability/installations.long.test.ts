import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findManifest, leastValues, renderChart } from '../testing/render-chart.ts';
import { type AlertCase, type AlertRule, alertCases, alertRuleFiles, alertRules } from './alert-rules.ts';
import { runPromtool } from './promtool.ts';

type Labels = Record<string, string>;

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-alerts-'));
});
afterAll(() => rm(directory, { recursive: true }));

test.each(alertRules)('the alert $alert distinguishes the series of several installations', ({ expr }) => {
  const groupings = [...expr.matchAll(/\b(?:sum|min|max|count)\b *(?:by \(([^)]*)\))?/g)].map(
    ([, labels = '']) => labels,
  );
  expect(groupings.filter((labels) => !labels.startsWith('cluster, namespace'))).toEqual([]);
});

test('alerts name the failing installation while another installation is healthy', async () => {
  const [sick, well] = [{ namespace: 'sick' }, { namespace: 'well' }];
  await expectAll(
    alertRuleFiles.map(({ file, rules }) => ({
      file,
      tests: rules.map(({ alert }) => caseOfTwo(caseNamed(`${alert} fires`), { alert, sick, well, firing: [sick] })),
    })),
  );
}, 600_000);

test("a release's alert rules ignore other releases in its namespace", async () => {
  const values = { ...leastValues, serviceMonitor: { enabled: true }, prometheusRules: { enabled: true } };
  const rendered = await renderChart({ release: 'mine', values });
  const mine = { namespace: 'prod', service: 'mine-millrace-metrics' };
  const other = { namespace: 'prod', service: 'other-millrace-metrics' };
  const fires = ({ alert }: AlertRule) => alertCases.filter(({ name }) => name.startsWith(`${alert} fires`));
  const files = alertRuleFiles
    // Omit alerts about data stores, because a release does not include the stores.
    .map(({ name, rules }) => ({ name, rules: rules.filter(({ alert }) => alert.startsWith('Millrace')) }))
    .map(async ({ name, rules }) => {
      const file = join(directory, `${name}.json`);
      await writeFile(file, JSON.stringify(findManifest(rendered, 'PrometheusRule', `mine-millrace-${name}`).spec));
      const tests = rules.flatMap((rule) =>
        fires(rule).flatMap((one) => [
          caseOfTwo(one, { alert: rule.alert, sick: mine, well: other, firing: [mine] }),
          caseOfTwo(one, { alert: rule.alert, sick: other, well: mine, firing: [] }),
        ]),
      );
      return { file, tests };
    });
  await expectAll(await Promise.all(files));
}, 600_000);

function caseNamed(name: string): AlertCase {
  const found = alertCases.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no case ${name}.`);
  return found;
}

interface Two {
  alert: string;
  sick: Labels;
  well: Labels;
  /** Labels of the installations whose alerts are expected to fire. */
  firing: Labels[];
}

/** Combines the series that make an alert fire with the series of a healthy installation. */
function caseOfTwo(fires: AlertCase, { alert, sick, well, firing }: Two) {
  const names = Object.keys(sick).join(', ');
  return {
    ...{ name: `${fires.name}, of ${JSON.stringify(sick)}`, interval: fires.interval },
    input_series: [...figuresOf(fires, sick), ...figuresOf(caseNamed(`${alert} is quiet`), well)],
    promql_expr_test: [
      {
        expr: `count by (${names}) (ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0`,
        eval_time: fires.promql_expr_test[0]?.eval_time,
        exp_samples: firing.map((labels) => ({ labels: `{${matchers(labels)}}`, value: 1 })),
      },
    ],
  };
}

function figuresOf({ input_series }: AlertCase, labels: Labels): AlertCase['input_series'] {
  return input_series.map(({ series, values }) => {
    const [name = '', own = ''] = series.split(/[{}]/);
    return { series: `${name}{${[own, matchers(labels)].filter(Boolean).join(',')}}`, values };
  });
}

function matchers(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',');
}

/** Runs promtool separately for each rule file, because promtool evaluates all given rules for every case. */
async function expectAll(files: { file: string; tests: object[] }[]) {
  const cases = files.map(async ({ file, tests }, at) => {
    const name = join(directory, `cases-${at}.json`);
    await writeFile(name, JSON.stringify({ rule_files: [file], evaluation_interval: '1m', tests }));
    return name;
  });
  const { status, output } = await runPromtool('test', 'rules', ...(await Promise.all(cases)));
  expect([status, output]).toEqual([0, expect.not.stringContaining('FAILED')]);
}
