import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { environmentName } from '@millrace/runtime';
import { allInOne, services } from '../build/programs.ts';
import { markdownTable } from './documents.ts';

/** The parts of JSON Schema that settings use. */
export interface Setting {
  type?: string;
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  anyOf?: { const?: unknown }[];
}

export interface ConfigSchema {
  properties: Record<string, Setting>;
  required?: string[];
}

/** What every service reads from its environment, in the order of `services`, and what all of them as one process do. */
export async function configSchemas(root: string): Promise<Record<string, ConfigSchema>> {
  const entries: [string, ConfigSchema][] = [];
  for (const service of [...services, allInOne]) {
    entries.push([service, findSchema(await importSource(root, `services/${service}/src/config.ts`))]);
  }
  return Object.fromEntries(entries);
}

function findSchema(exports: Record<string, unknown>): ConfigSchema {
  const found = Object.values(exports).find(
    (value) => typeof value === 'object' && value !== null && 'properties' in value,
  );
  if (found === undefined) throw new Error('A config.ts exports no schema.');
  return found as ConfigSchema;
}

/**
 * The exports of one source file of the repository, by its path. For what documents are made of: packages import no
 * services, and so these stay unknown to the compiler.
 */
export async function importSource(root: string, path: string): Promise<Record<string, unknown>> {
  return import(pathToFileURL(join(root, path)).href);
}

/** Every setting of every service with its default and meaning, from the schemas that read them. */
export async function configurationPage(root: string): Promise<string> {
  const sections: string[] = [];
  for (const [service, schema] of Object.entries(await configSchemas(root))) {
    const rows = Object.entries(schema.properties).map(([field, setting]) => row(field, setting, schema));
    const more = service === allInOne ? `${ofAllInOne}\n` : '';
    sections.push(`## ${service}\n\n${more}${markdownTable(['Variable', 'Default', 'Allowed', 'Meaning'], rows)}\n`);
  }
  return `${introduction}\n${sections.join('\n')}`;
}

const introduction = `# Configuration

Written by \`npm run docs\` from \`services/*/src/config.ts\` and what they share; a test fails when this page is stale.

Every setting is a variable of the environment. An empty one counts as unset. A service reads all of them at its start and reports
all mistakes at once. Those that you will want first are in [Install](operations/install.md#first-settings). The \`millrace\` command reads the same
variables; \`node dist/millrace.mjs <command> --help\` names them.
`;

const ofAllInOne = `All services as one process read the settings of all four above. These the process has once, in place of what each would
have by itself. A setting with the name of a service before it is for this service alone: \`DELIVERY_WORKER_DATABASE_POOL_SIZE\`.
`;

function row(field: string, setting: Setting, { required = [] }: ConfigSchema): string[] {
  if (!setting.description) throw new Error(`The setting ${field} has no description.`);
  const name = `\`${environmentName(field)}\``;
  return [name, defaultOf(setting, required.includes(field)), allowed(setting), setting.description];
}

function defaultOf(setting: Setting, isRequired: boolean): string {
  if (setting.default === undefined) return isRequired ? 'none: it has to be set' : 'unset';
  return setting.default === '' ? 'empty' : `\`${String(setting.default)}\``;
}

function allowed({ type, minimum, maximum, anyOf }: Setting): string {
  if (anyOf !== undefined) return anyOf.map((choice) => `\`${String(choice.const)}\``).join(', ');
  if (type === 'boolean') return '`true`, `false`';
  if (type !== 'integer') return 'text';
  const end = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? '' : ` to ${maximum}`;
  return `whole number from ${minimum ?? 0}${end}`;
}
