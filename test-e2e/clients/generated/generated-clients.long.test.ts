import { execFile } from 'node:child_process';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readEnvironment } from '@millrace/runtime';
import { type RunningServices, startServices } from '../../support/start-services.ts';
import { installOnce, installOrNull } from '../../testing/install-tools.ts';
import { type SeededList, type SeededProject, seeded, seedProject } from '../seed.ts';
import { type ClientRecipe, clientRecipes, recipeDirectory } from './client-recipes.ts';

/**
 * Generators create clients for the entire OpenAPI document. Each client is compiled. A program then uses the client to
 * read every list to its end and to create records. A client is generated and compiled again only after the document or
 * the program has changed.
 */
const run = promisify(execFile);

let services: RunningServices;
let project: SeededProject;
let document: string;
beforeAll(async () => {
  services = await startServices({ eventLog: 'postgres', settings: { LOG_LEVEL: 'error' } });
  project = await seedProject(services);
  document = await (await fetch(`${services.apiUrl}/api/schema/`)).text();
}, 300_000);
afterAll(() => services?.stop());

type Build = Awaited<ReturnType<ClientRecipe['prepare']>>['build'];

/** Generates and compiles a client. @returns the directory of the compiled client */
async function compiledClient({ folder }: ClientRecipe, build: Build): Promise<string> {
  const source = recipeDirectory(folder);
  const files = (await readdir(source)).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(source, file), 'utf8')));
  const recipes = await readFile(join(recipeDirectory(''), 'client-recipes.ts'), 'utf8');
  const content = [document, recipes, ...texts].join('\n');
  return installOnce(`generated-clients/${folder}`, content, async (draft) => {
    await cp(source, draft, { recursive: true });
    await writeFile(join(draft, 'openapi.json'), document);
    await build(draft);
  });
}

interface Read {
  events: string[];
  persons: number[];
  flags: string[];
  annotations: number[];
  cohorts: number[];
  created: object;
  ids: { annotation: number; cohort: number };
  missing: number;
}

for (const recipe of clientRecipes) {
  const prepared = await installOrNull(recipe.name, () => recipe.prepare());
  (prepared === null ? test.skip : test)(
    `${recipe.name} writes a client that reads and creates records`,
    async () => {
      if (prepared === null) throw new Error('unreachable: skipped');
      const directory = await compiledClient(recipe, prepared.build);
      const [program = '', ...words] = prepared.command(directory);
      const { PATH = '' } = readEnvironment();
      const env = {
        PATH,
        API_URL: services.apiUrl,
        API_KEY: services.tenant.personalApiKey,
        PROJECT_ID: String(services.tenant.projectId),
      };
      const { stdout } = await run(program, words, { env, timeout: 120_000, maxBuffer: 64 << 20 });
      const read: Read = JSON.parse(stdout);
      expect(read.events.sort()).toEqual([...project.eventUuids].sort());
      expect([read.persons.length, new Set(read.persons).size]).toEqual([seeded.persons, seeded.persons]);
      expect(read.flags.sort()).toEqual(project.ids.feature_flags.map((_, index) => `flag-${index}`).sort());
      // Returns whether a record belongs to this client. Other clients also create records in the same list.
      const isOwn = (id: number, list: SeededList, created: number) => id === created || project.ids[list].includes(id);
      const { annotation, cohort } = read.ids;
      expect(ascending(read.annotations.filter((id) => isOwn(id, 'annotations', annotation)))).toEqual([
        ...project.ids.annotations,
        annotation,
      ]);
      expect(ascending(read.cohorts.filter((id) => isOwn(id, 'cohorts', cohort)))).toEqual([
        ...project.ids.cohorts,
        cohort,
      ]);
      expect(read.created).toEqual({ annotation: 'Generated', cohort: 'Generated' });
      expect(read.missing).toBe(404);
    },
    600_000,
  );
}

const ascending = (ids: number[]) => ids.sort((one, other) => one - other);
