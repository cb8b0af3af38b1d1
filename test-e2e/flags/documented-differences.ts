import { readFileSync } from 'node:fs';
import type { Tally } from './expect-agreement.ts';
import type { FlagCase } from './flag-cases.ts';

type Language = keyof FlagCase['locally'];

/**
 * A row of the table in docs/flags.md. Counts how often SDKs with local evaluation query the server or return a
 * different value.
 */
export interface DocumentedDifference extends Record<Language, Omit<Tally, 'agree'>> {
  categories: string[];
}

const page = new URL('../../docs/flags.md', import.meta.url);
const columns: Language[] = ['python', 'node'];

export function readDocumentedDifferences(): DocumentedDifference[] {
  const [, rest = ''] = readFileSync(page, 'utf8').split('\n## Where SDKs differ\n');
  const [section = ''] = rest.split('\n## ');
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [, names = '', ...counts] = line.split('|');
      const [python, node] = columns.map((_, index) => toCounts(counts[index] ?? ''));
      if (python === undefined || node === undefined) throw new Error(`A row lacks columns: ${line}`);
      return { categories: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name), python, node };
    });
}

/** Returns a test run's results by the rows of the table in docs/flags.md. A category without a row gets a new row. */
export function countDifferences(
  rows: readonly DocumentedDifference[],
  seen: Record<Language, Map<string, Tally>>,
): DocumentedDifference[] {
  const named = new Set(rows.flatMap(({ categories }) => categories));
  const unnamed = [...new Set([...seen.python.keys(), ...seen.node.keys()])].filter(
    (category) => !named.has(category) && columns.some((language) => isDifferent(seen[language].get(category))),
  );
  return [...rows.map(({ categories }) => categories), ...unnamed.map((category) => [category])].map((categories) => ({
    categories,
    python: sumOf(categories, seen.python),
    node: sumOf(categories, seen.node),
  }));
}

function isDifferent(tally: Tally | undefined): boolean {
  return tally !== undefined && tally.queries + tally.differ > 0;
}

function sumOf(categories: readonly string[], tallies: Map<string, Tally>): Omit<Tally, 'agree'> {
  const found = categories.flatMap((category) => tallies.get(category) ?? []);
  return {
    queries: found.reduce((sum, { queries: asks }) => sum + asks, 0),
    differ: found.reduce((sum, { differ }) => sum + differ, 0),
  };
}

/** Parses a table cell such as `19 asked, 7 other`. The cell may contain only one of the numbers. */
function toCounts(cell: string): Omit<Tally, 'agree'> {
  const count = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(cell)?.[1] ?? 0);
  return { queries: count('asked'), differ: count('other') };
}
