// Generates the index of the management API routes.
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { importSource } from './configuration.ts';
import { formatMarkdownTable } from './documents.ts';

const folder = 'services/management-api/src';
const listFile = `${folder}/app/routes.ts`;

interface DeclaredRoute {
  method: string;
  /** The path with parameters such as `:project_id`, without a trailing slash. */
  path: string;
}

const keyOf = ({ method, path }: DeclaredRoute) => `${method} ${path}/`;

/**
 * Lists every route of the OpenAPI document with the file that declares it. The list of all routes imports one function
 * for each group of routes. Calling these functions one by one shows which file declares each route.
 * @throws Error if no function declares a route of the document
 */
export async function generateRoutesPage(root: string): Promise<string> {
  const { declaredRoutes } = await importSource(root, `${folder}/testing/declared-routes.ts`);
  const declared = (declaredRoutes as () => DeclaredRoute[])();
  const files = new Map<string, string>();
  for (const { names, file } of importedFunctions(await readFile(join(root, listFile), 'utf8'))) {
    const source = await importSource(root, file);
    for (const name of names) {
      for (const route of routesOf(source[name])) files.set(keyOf(route), file);
    }
  }
  const rows = declared.map(keyOf).flatMap((key) => {
    const file = files.get(key);
    if (file === undefined) throw new Error(`No function that ${listFile} imports declares ${key}`);
    const belowProject = key.replace('/api/environments/:project_id/', '/api/projects/:project_id/');
    if (belowProject !== key && files.get(belowProject) === file) return [];
    return [[`\`${key}\``, `\`${file.slice(folder.length + 1)}\``]];
  });
  rows.sort(([, a = ''], [, b = '']) => (a < b ? -1 : Number(a > b)));
  return `${introduction}\n${formatMarkdownTable(['Route', 'File'], rows)}\n`;
}

const introduction = `# Routes

This page lists the routes of the management API and the file that declares each of them, relative to \`${folder}\`. \`npm run docs\`
generates it. The [API reference](api/README.md) describes what the routes do.

Most routes below \`/api/projects/:project_id/\` also exist below \`/api/environments/:project_id/\`. The same code declares them, so they are
listed once.
`;

/** Returns the functions that a source file imports from `…routes.ts` files, with these files' paths. */
function importedFunctions(source: string): { names: string[]; file: string }[] {
  return [...source.matchAll(/^import \{([^}]*)\} from '(\.[^']+)';/gm)].flatMap(([, list = '', path = '']) => {
    const names = list.split(',').map((name) => name.trim());
    const functions = names.filter((name) => /^\w*Routes?$/.test(name));
    return functions.length === 0 ? [] : [{ names: functions, file: posix.join(posix.dirname(listFile), path) }];
  });
}

/**
 * Returns the routes that a function declares. Declaring routes does not use the dependencies, so none are passed. For
 * the OpenAPI routes, an empty list is passed, because their parameter is the list of all other routes.
 */
function routesOf(declare: unknown): DeclaredRoute[] {
  const declared = (declare as (deps: object) => DeclaredRoute | DeclaredRoute[])([]);
  return Array.isArray(declared) ? declared : [declared];
}
