import { environmentName } from '@millrace/runtime';
import { services } from '../build/programs.ts';
import { importSource } from './import-source.ts';
import { markdownTable } from './markdown-table.ts';

/** The parts of JSON Schema that settings use. */
interface Setting {
  type?: string;
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
  anyOf?: { const?: unknown }[];
}

interface ConfigSchema {
  properties: Record<string, Setting>;
  required?: string[];
}

/** Every setting of every service with its default and meaning, from the schemas that read them. */
export async function configurationPage(root: string): Promise<string> {
  const sections: string[] = [];
  for (const service of services) {
    const schema = findSchema(await importSource(root, `services/${service}/src/config.ts`));
    const rows = Object.entries(schema.properties).map(([field, setting]) => row(field, setting, schema));
    sections.push(`## ${service}\n\n${markdownTable(['Variable', 'Default', 'Allowed', 'Meaning'], rows)}\n`);
  }
  return `${introduction}\n${sections.join('\n')}`;
}

const introduction = `# Configuration

Written by \`npm run docs\` from \`services/*/src/config.ts\` and what they share; a test fails when this page is stale.

Every setting is a variable of the environment. An empty one counts as unset. A service reads all of them at its start and reports
all mistakes at once. Those that you will want first are in [operations.md](operations.md#start). The \`millrace\` command reads the same
variables; \`node dist/millrace.mjs <command> --help\` names them.
`;

function findSchema(exports: Record<string, unknown>): ConfigSchema {
  const found = Object.values(exports).find(
    (value) => typeof value === 'object' && value !== null && 'properties' in value,
  );
  if (found === undefined) throw new Error('A config.ts exports no schema.');
  return found as ConfigSchema;
}

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
