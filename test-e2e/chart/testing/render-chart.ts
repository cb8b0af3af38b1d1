import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureKubectlAndHelm } from '@millrace/stack/fetched-programs';
import { runProgram } from '@millrace/stack/run-program';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from './manifest.ts';

export const root = fileURLToPath(new URL('../../../', import.meta.url));
export const chartDirectory = join(root, 'deploy/helm/millrace');
const examplesDirectory = join(root, 'deploy/helm/examples');

export const leastValues = {
  postgresql: { url: 'postgresql://millrace:secret@postgresql.stores:5432/millrace' },
  kafka: { brokers: ['kafka.stores:9092'] },
};

export interface RenderOptions {
  release?: string;
  /** Directory of the chart. The default is the chart under test. */
  chart?: string;
  /** Names of values files in deploy/helm/examples, without extension. */
  examples?: string[];
  values?: object;
  words?: string[];
}

/** Returns Helm's exit status and output, even if Helm fails. */
export async function helmTemplate(options: RenderOptions): Promise<{ status: number; output: string }> {
  const { release = 'm', chart = chartDirectory, examples = [], values = {}, words = [] } = options;
  const { helm } = await ensureKubectlAndHelm();
  const files = examples.flatMap((name) => ['--values', join(examplesDirectory, `${name}.yaml`)]);
  const own = Object.entries(values).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`]);
  return runProgram(helm, ['template', release, chart, '--namespace', 'prod', ...files, ...own, ...words]);
}

/** Renders all objects of the chart, including hooks. @throws Error with Helm's output */
export async function renderChart(options: RenderOptions): Promise<Manifest[]> {
  const { status, output } = await helmTemplate(options);
  if (status !== 0) throw new Error(output);
  return parseAllDocuments(output).flatMap((document) => {
    // Check for errors, because Helm accepts YAML that other parsers reject, such as duplicate keys.
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.contents === null ? [] : [document.toJS() as Manifest];
  });
}

export async function listExampleNames(): Promise<string[]> {
  const names = await readdir(examplesDirectory);
  return names.filter((name) => name.endsWith('.yaml')).map((name) => name.replace('.yaml', ''));
}

/** @throws Error if no object has this kind and name */
export function findManifest(manifests: Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (found === undefined) throw new Error(`There is no ${kind} ${name}.`);
  return found;
}

export const filterByKind = (manifests: Manifest[], kind: string) =>
  manifests.filter((manifest) => manifest.kind === kind);

/** Returns the default of each setting in docs/configuration.md, by service and variable. */
export async function readDocumentedSettings(): Promise<Record<string, Record<string, string>>> {
  const page = await readFile(join(root, 'docs/configuration.md'), 'utf8');
  const [, ...sections] = page.split(/^## /m);
  return Object.fromEntries(
    sections.map((section) => {
      const rows = [...section.matchAll(/^\| `([A-Z_]+)` \| `?([^|`]*)`? \|/gm)];
      return [section.split('\n', 1)[0], Object.fromEntries(rows.map(([, name, usual]) => [name, usual?.trim()]))];
    }),
  );
}
