import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '../command.ts';
import { configurationPage, importSource } from './configuration.ts';
import { markdownTable } from './documents.ts';
import { metricsPage } from './metrics-page.ts';
import { valuesSchema } from './values-schema.ts';

/** `npm run docs`: writes the pages that are made from the code. A test fails when one of them is stale. */
export const main: Command = async ({ progress, root }) => {
  for (const { path, text } of await generatedPages(root)) {
    await writeFile(join(root, path), text);
    progress.print(`✓ ${path}`);
  }
  return 0;
};

export interface Page {
  /** Relative to the repository. */
  path: string;
  text: string;
}

const casesPath = 'docs/cases.md';
const settingsPath = 'docs/settings.md';
const compatibilityPath = 'docs/compatibility.md';
/** What the console says of a setting is what the table says. */
const effectWordsPath = 'packages/console/src/pages/settings/data/effects/words.ts';
const generatedPart = '<!-- From here on written by `npm run docs`. -->\n';

/** The pages, or parts of pages, that are made from the code, as they should be. */
export async function generatedPages(root: string): Promise<Page[]> {
  /** A page whose beginning is written by hand. */
  const page = async (path: string, generated: string): Promise<Page> => {
    const [byHand = ''] = (await readFile(join(root, path), 'utf8')).split(generatedPart);
    return { path, text: `${byHand}${generatedPart}\n${generated}` };
  };
  return [
    { path: 'docs/configuration.md', text: await configurationPage(root) },
    { path: 'deploy/helm/millrace/values.schema.json', text: await valuesSchema(root) },
    { path: 'docs/metrics.md', text: await metricsPage(root) },
    await page(casesPath, await ruleCaseTables(root)),
    await page(settingsPath, await fieldsOfEnvironments(root)),
    await page(compatibilityPath, await namesWithoutEffect(root)),
    { path: effectWordsPath, text: await effectWords(root) },
  ];
}

type Fields = Record<string, { description?: string }>;

type SettingEffects = Record<string, { does: string; effect: string }>;

async function readSettings(root: string): Promise<SettingEffects> {
  const source = await importSource(root, 'packages/accounts/src/projects/setting-fields.ts');
  return source.settingFields as SettingEffects;
}

/** What each field of an environment does: settings by their table, the others by their description in the schema of the API. */
async function fieldsOfEnvironments(root: string): Promise<string> {
  const settingFields = await readSettings(root);
  const { environment, environmentChanges } = (await importSource(
    root,
    'services/management-api/src/resources/environments/schema.ts',
  )) as Record<'environment' | 'environmentChanges', { properties: Fields }>;
  const rows = Object.entries(environment.properties).map(([field, { description = '' }]) => {
    const state = Object.hasOwn(environmentChanges.properties, field) ? 'acts' : 'read only';
    const { does, effect } = settingFields[field] ?? { does: state, effect: description };
    return [`\`${field}\``, does, effect];
  });
  const states = ['acts', 'stored only', 'off', 'read only'];
  const sorted = states.flatMap((state) => rows.filter(([, does]) => does === state));
  return `## Every field\n\n${markdownTable(['Field', '', 'What it does'], sorted)}\n`;
}

/** What the API accepts for compatibility and does not use. */
async function namesWithoutEffect(root: string): Promise<string> {
  const { withoutEffect } = (await importSource(
    root,
    'services/management-api/src/resources/compatibility/without-effect.ts',
  )) as { withoutEffect: { routes: string[]; query?: string[]; body?: string[] | string; reason: string }[] };
  const listed = (names: readonly string[]) => names.map((name) => `\`${name}\``).join('<br>');
  const rows = withoutEffect.map(({ routes, query = [], body = [], reason }) => [
    listed(routes),
    [
      ...(query.length > 0 ? [`query: ${listed(query)}`] : []),
      ...(typeof body === 'string' ? [`body: ${body} that the route does not read`] : []),
      ...(typeof body !== 'string' && body.length > 0 ? [`body: ${listed(body)}`] : []),
    ].join('<br>'),
    reason,
  ]);
  return `## Accepted without effect\n\n${markdownTable(['Routes', 'Names', 'Why'], rows)}\n`;
}

/** The same sentences for the console, which imports nothing of a service: without links, which lead nowhere there. */
async function effectWords(root: string): Promise<string> {
  const quote = (words: string) => (words.includes("'") ? JSON.stringify(words) : `'${words}'`);
  const entries = Object.entries(await readSettings(root)).map(([field, { does, effect }]) => {
    const plain = effect.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1');
    return `  ${field}: {\n    does: '${does}',\n    effect: ${quote(plain)},\n  },`;
  });
  const about = '// Written by `npm run docs`: the settings of an environment, as their table has them.\n';
  return `${about}// biome-ignore-all format: a line is an entry\nexport const effects = {\n${entries.join('\n')}\n} as const;\n`;
}

const folder = 'services/event-consumer/src/rule-cases';

interface RuleCase {
  no?: number[];
  is: string;
}

/** The numbered cases that are played against the rules of ingestion, a line for each number. */
async function ruleCaseTables(root: string): Promise<string> {
  const files = (await readdir(join(root, folder))).filter((file) => file.endsWith('-cases.ts')).sort();
  const sections: string[] = [];
  for (const file of files.filter((name) => name !== 'all-cases.ts')) {
    const lists = Object.values(await importSource(root, `${folder}/${file}`)).filter((value) => Array.isArray(value));
    const rows = rowsOf(lists.flat() as RuleCase[]);
    sections.push(`### ${titleOf(file)}\n\n${markdownTable(['Case', 'Rule'], rows)}\n`);
  }
  const source = `The cases are in \`${folder}\`, with one file for each heading. Cases without a number are not listed here.`;
  return `## Ingestion\n\n${source}\n\n${sections.join('\n')}\n${await elsewhere(root)}`;
}

/** Of several cases with the same number, only the first is listed. */
function rowsOf(cases: readonly RuleCase[]): string[][] {
  const byNumber = new Map<number, string[]>();
  for (const { no = [], is } of cases) for (const one of no) byNumber.set(one, [...(byNumber.get(one) ?? []), is]);
  return [...byNumber]
    .sort(([a], [b]) => a - b)
    .map(([no, [first = '', ...others]]) => [
      `E-${no}`,
      others.length === 0 ? first : `${first} (and ${others.length} similar ${others.length === 1 ? 'case' : 'cases'})`,
    ]);
}

function titleOf(file: string): string {
  const words = file.replace('-cases.ts', '').replaceAll('-', ' ');
  return `${words[0]?.toUpperCase()}${words.slice(1)}`;
}

async function elsewhere(root: string): Promise<string> {
  const { decidedElsewhere } = (await importSource(root, `${folder}/decided-elsewhere.ts`)) as {
    decidedElsewhere: { no: number[]; because: string }[];
  };
  const rows = decidedElsewhere.map(({ no, because }) => [no.map((n) => `E-${n}`).join(', '), because]);
  return `### Decided elsewhere\n\n${markdownTable(['Cases', 'Decided by'], rows)}\n`;
}
