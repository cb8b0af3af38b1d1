import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { toEnvironmentVariable } from '@millrace/runtime';
import { allInOne, services } from '../build/programs.ts';
import { formatMarkdownTable } from './documents.ts';

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

/** Returns the settings of each service, in the order of `services`, and then those of the all-in-one program. */
export async function readConfigSchemas(root: string): Promise<Record<string, ConfigSchema>> {
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
 * Imports a source file of the repository by its path, to generate documents. A normal import is not possible, because
 * packages must not import services. The types of the exports are therefore unknown.
 */
export async function importSource(root: string, path: string): Promise<Record<string, unknown>> {
  return import(pathToFileURL(join(root, path)).href);
}

/**
 * Generates docs/configuration.md from the settings' schemas. It lists each service's settings, defaults and meanings.
 */
export async function generateConfigurationPage(root: string): Promise<string> {
  const sections: string[] = [];
  for (const [service, schema] of Object.entries(await readConfigSchemas(root))) {
    const rows = Object.entries(schema.properties).map(([field, setting]) => row(field, setting, schema));
    const more = service === allInOne ? `${ofAllInOne}\n` : '';
    sections.push(
      `## ${service}\n\n${more}${formatMarkdownTable(['Variable', 'Default', 'Allowed', 'Meaning'], rows)}\n`,
    );
  }
  return `${introduction}\n${sections.join('\n')}`;
}

const introduction = `# Configuration

This page lists every setting of every service. To find out which settings to change first, see
[Install](operations/install.md#first-settings). \`npm run docs\` generates the page from \`services/*/src/config.ts\`.

Each setting is an environment variable. An empty variable counts as unset. A service reads all of its settings at startup, and reports all
invalid settings together. The \`millrace\` command reads the same variables. \`node dist/millrace.mjs <command> --help\` lists the ones
that a command uses.
`;

const ofAllInOne = `When one process runs all services, it reads the settings of all four services above. The settings in this table apply to the whole
process and replace those of the individual services. To set any other setting for one service only, put the name of the service before it,
for example \`DELIVERY_WORKER_DATABASE_POOL_SIZE\`.
`;

function row(field: string, setting: Setting, { required = [] }: ConfigSchema): string[] {
  if (!setting.description) throw new Error(`The setting ${field} has no description.`);
  const name = `\`${toEnvironmentVariable(field)}\``;
  return [name, defaultOf(setting, required.includes(field)), allowed(setting), toSentences(setting.description)];
}

/**
 * Converts a setting's description to sentences. Descriptions start in lower case and have no final period, because
 * error messages contain them in parentheses.
 */
export function toSentences(description: string): string {
  return `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
}

function defaultOf(setting: Setting, isRequired: boolean): string {
  if (setting.default === undefined) return isRequired ? 'required' : 'unset';
  return setting.default === '' ? 'empty' : `\`${String(setting.default)}\``;
}

function allowed({ type, minimum, maximum, anyOf }: Setting): string {
  if (anyOf !== undefined) return anyOf.map((choice) => `\`${String(choice.const)}\``).join(', ');
  if (type === 'boolean') return '`true`, `false`';
  if (type !== 'integer' && type !== 'number') return 'text';
  const kind = type === 'integer' ? 'whole number' : 'number';
  const isUnlimited = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER;
  return isUnlimited ? `${kind}, at least ${minimum ?? 0}` : `${kind} from ${minimum ?? 0} to ${maximum}`;
}
