import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../testing/render-chart.ts';

export interface AlertRule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

const directory = join(root, 'deploy/observability/rules');

/** By the names of their files, without an ending. */
export const alertRuleFiles = readdirSync(directory).map((name) => {
  const file = join(directory, name);
  const { groups } = parse(readFileSync(file, 'utf8')) as { groups: { rules: AlertRule[] }[] };
  return { file, name: basename(name, '.yaml'), rules: groups.flatMap(({ rules }) => rules) };
});

export const alertRules = alertRuleFiles.flatMap(({ rules }) => rules);
