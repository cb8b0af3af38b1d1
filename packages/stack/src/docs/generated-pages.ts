import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { valuesSchema } from './chart/values-schema.ts';
import { configurationPage } from './configuration-page.ts';
import { metricsPage } from './metrics-page.ts';
import { ruleCaseTables } from './rule-case-tables.ts';

export interface Page {
  /** Relative to the repository. */
  path: string;
  text: string;
}

const rulesPath = 'docs/ingestion-rules.md';
const generatedPart = '<!-- From here on written by `npm run docs`. -->\n';

/** The pages, or parts of pages, that are made from the code, as they should be. */
export async function generatedPages(root: string): Promise<Page[]> {
  const [byHand = ''] = (await readFile(join(root, rulesPath), 'utf8')).split(generatedPart);
  return [
    { path: 'docs/configuration.md', text: await configurationPage(root) },
    { path: 'deploy/helm/millrace/values.schema.json', text: await valuesSchema(root) },
    { path: 'docs/metrics.md', text: await metricsPage(root) },
    { path: rulesPath, text: `${byHand}${generatedPart}\n${await ruleCaseTables(root)}` },
  ];
}
