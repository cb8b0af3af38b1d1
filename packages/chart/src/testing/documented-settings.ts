import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './render-chart.ts';

/** Defaults of every setting, by service and variable, as docs/configuration.md has them. */
export async function documentedSettings(): Promise<Record<string, Record<string, string>>> {
  const page = await readFile(join(root, 'docs/configuration.md'), 'utf8');
  const [, ...sections] = page.split(/^## /m);
  return Object.fromEntries(
    sections.map((section) => {
      const rows = [...section.matchAll(/^\| `([A-Z_]+)` \| `?([^|`]*)`? \|/gm)];
      return [section.split('\n', 1)[0], Object.fromEntries(rows.map(([, name, usual]) => [name, usual?.trim()]))];
    }),
  );
}
