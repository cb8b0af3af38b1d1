import { importSource } from './configuration.ts';
import { formatMarkdownTable } from './documents.ts';

interface TableFunction {
  name: string;
  args: readonly { kind: string; isOptional: boolean; isRepeated: boolean }[];
  result: string;
}
interface FunctionTable {
  scalars: ReadonlyMap<string, readonly TableFunction[]>;
  aggregates: ReadonlyMap<string, readonly TableFunction[]>;
  windows: ReadonlyMap<string, readonly TableFunction[]>;
  resolverFunctions: ReadonlyMap<string, readonly [number, number]>;
  aggregateAliases: ReadonlyMap<string, string>;
  isInternal(name: string): boolean;
}
interface Signatures {
  kindName(kind: string): string;
}

const introduction = `# SQL functions

This page lists the functions that SQL queries and expressions can call. See [SQL](api/query.md#sql) for the rules. \`npm run docs\` generates
the page from the function table. The results are the same with PostgreSQL and with ClickHouse.
`;

/** Generates docs/sql-functions.md, with each function's arguments and result, from the table of SQL functions. */
export async function generateFunctionsPage(root: string): Promise<string> {
  const table = (await importSource(root, 'packages/insights/src/sql/functions/index.ts')) as unknown as FunctionTable;
  const { kindName } = (await importSource(
    root,
    'packages/insights/src/sql/functions/define.ts',
  )) as unknown as Signatures;
  const { scalars, aggregates, windows, resolverFunctions, aggregateAliases, isInternal } = table;
  const rowsOf = (functions: FunctionTable['scalars']) =>
    [...functions].flatMap(([name, options]) =>
      isInternal(name) || resolverFunctions.has(name) ? [] : [row(name, options, kindName)],
    );
  const head = ['Function', 'Arguments', 'Result'];
  const aliases = [...aggregateAliases].map(([name, of]) => [`\`${name}\``, `\`${of}\``]);
  const more = [...resolverFunctions]
    .filter(([name]) => !name.startsWith('_'))
    .map(([name, bounds]) => [`\`${name}\``, countText(bounds)]);
  return [
    introduction,
    `## Aggregations\n\nEach also exists with the suffix \`If\` and a condition as the last argument, such as \`sumIf(properties.total, event = 'order')\`.\n\n${formatMarkdownTable(head, sorted(rowsOf(aggregates)))}\n`,
    `These are other names of aggregations:\n\n${formatMarkdownTable(['Name', 'Function'], sorted(aliases))}\n`,
    `## Window functions\n\nThey need \`OVER\`.\n\n${formatMarkdownTable(head, sorted(rowsOf(windows)))}\n`,
    `## Functions of values\n\n${formatMarkdownTable(head, sorted(rowsOf(scalars)))}\n`,
    `## Functions that depend on constants or on the project\n\n${formatMarkdownTable(['Function', 'Number of arguments'], sorted(more))}\n`,
  ].join('\n');
}

const sorted = (rows: string[][]) => rows.sort(([a = ''], [b = '']) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));

function row(name: string, options: readonly TableFunction[], kindName: Signatures['kindName']): string[] {
  const signatures = options.map(({ args }) => args.map((one) => argumentText(one, kindName)).join(', ') || 'none');
  const results = options.map(({ result }) => kindName(result));
  return [`\`${name}\``, [...new Set(signatures)].join('<br>'), [...new Set(results)].join(' or ')];
}

function argumentText(
  { kind, isOptional, isRepeated }: TableFunction['args'][number],
  kindName: Signatures['kindName'],
): string {
  const word = kindName(kind);
  return isRepeated ? `${word}, …` : isOptional ? `[${word}]` : word;
}

function countText([least, most]: readonly [number, number]): string {
  if (least === most) return String(least);
  return most >= 100 ? `at least ${least}` : `${least} to ${most}`;
}
