// Reads the deployed alert rules and their test cases.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { root } from '../testing/render-chart.ts';

export interface AlertRule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook: string };
}

const directory = join(root, 'deploy/observability/rules');

export const alertRuleFiles = readdirSync(directory).map((name) => {
  const file = join(directory, name);
  const { groups } = parse(readFileSync(file, 'utf8')) as { groups: { rules: AlertRule[] }[] };
  return { file, name: basename(name, '.yaml'), rules: groups.flatMap(({ rules }) => rules) };
});

export const alertRules = alertRuleFiles.flatMap(({ rules }) => rules);

const casesDirectory = fileURLToPath(new URL('./alert-cases/', import.meta.url));

export const alertCaseFiles = readdirSync(casesDirectory).map((file) => join(casesDirectory, file));

/** Input series, and the alerts expected after a given time, in promtool's format. */
export interface AlertCase {
  name: string;
  interval: string;
  input_series: { series: string; values: string }[];
  promql_expr_test: { expr: string; eval_time: string; exp_samples: { labels: string; value: number }[] }[];
}

export const alertCases = alertCaseFiles.flatMap((file) => {
  const { tests } = parse(readFileSync(file, 'utf8')) as { tests: AlertCase[] };
  return tests;
});
