import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const directory = fileURLToPath(new URL('./alert-cases/', import.meta.url));

export const alertCaseFiles = readdirSync(directory).map((file) => join(directory, file));

/** Figures, and what is asked of the alerts after a time, as promtool takes them. */
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
