import { environmentName } from '@millrace/runtime';
import { type ConfigSchema, configSchemas, type Setting } from './config-schemas.ts';
import { markdownTable } from './markdown.ts';

/** Every setting of every service with its default and meaning, from the schemas that read them. */
export async function configurationPage(root: string): Promise<string> {
  const sections: string[] = [];
  for (const [service, schema] of Object.entries(await configSchemas(root))) {
    const rows = Object.entries(schema.properties).map(([field, setting]) => row(field, setting, schema));
    sections.push(`## ${service}\n\n${markdownTable(['Variable', 'Default', 'Allowed', 'Meaning'], rows)}\n`);
  }
  return `${introduction}\n${sections.join('\n')}`;
}

const introduction = `# Configuration

Written by \`npm run docs\` from \`services/*/src/config.ts\` and what they share; a test fails when this page is stale.

Every setting is a variable of the environment. An empty one counts as unset. A service reads all of them at its start and reports
all mistakes at once. Those that you will want first are in [Install](operations/install.md#first-settings). The \`millrace\` command reads the same
variables; \`node dist/millrace.mjs <command> --help\` names them.
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
