// `millrace flags …`: commands that list, create and change feature flags.

import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../failures.ts';
import { type Condition, type Filters, type Flag, getFlag, listFlags } from '../flag-api.ts';
import { type Api, type ApiOptions, addApiOptions, createProjectApiClient } from '../management-api.ts';
import { createPrinter, type Row, type Terminal } from '../output.ts';
import { addEvaluateCommand } from './evaluate-flag-command.ts';

/** Adds `flags …`. The commands use the management API, which also validates and logs their changes. */
export function addFlagCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('flags').description("manage a project's feature flags through the management API");
  addList(commands, terminal);
  addShow(commands, terminal);
  addCreate(commands, terminal);
  addSet(commands, terminal);
  addToggle(commands, terminal);
  addEvaluateCommand(commands, terminal);
}

function addList(commands: Command, terminal: Terminal): void {
  addApiOptions(commands.command('list').description("list a project's flags, sorted by key")).action(
    async (_options: unknown, command: Command) => {
      const { api, isJson } = opened(command, terminal);
      const flags = await listFlags(api);
      if (isJson) printJson(terminal, flags);
      else createPrinter(terminal, false).table(flags.map(toRow));
    },
  );
}

function addShow(commands: Command, terminal: Terminal): void {
  addApiOptions(commands.command('show').description('show a flag').argument('<key>', 'flag key')).action(
    async (key: string, _options: unknown, command: Command) => {
      const { api, isJson } = opened(command, terminal);
      print(terminal, await getFlag(api, key), isJson);
    },
  );
}

function addCreate(commands: Command, terminal: Terminal): void {
  withChangeOptions(
    commands.command('create').description('create a flag. Without options, the flag is active for all users'),
  ).action(async (key: string, options: ChangeOptions, command: Command) => {
    const { api, isJson } = opened(command, terminal);
    print(terminal, (await api.call('POST', 'feature_flags/', { key, ...flagChanges(options) })) as Flag, isJson);
  });
}

function addSet(commands: Command, terminal: Terminal): void {
  withChangeOptions(
    commands.command('set').description('change a flag. Settings for which you pass no option stay unchanged'),
  ).action(async (key: string, options: ChangeOptions, command: Command) => {
    const { api, isJson } = opened(command, terminal);
    const stored = await getFlag(api, key);
    const changes = flagChanges(options, stored);
    if (Object.keys(changes).length === 0) {
      throw new UsageError('Specify a change: --rollout, --name, --filters, --active or --no-active.');
    }
    print(terminal, (await api.call('PATCH', `feature_flags/${stored.id}/`, changes)) as Flag, isJson);
  });
}

function withChangeOptions(command: Command): Command {
  return addApiOptions(
    command
      .argument('<key>', 'flag key')
      .option('--rollout <percentage>', 'rollout percentage among matching users', parsePercentage)
      .option('--name <text>', 'description of the flag')
      .option('--filters <json>', 'release conditions, variants and payloads as JSON, or @file')
      .option('--active', 'enable the flag')
      .option('--no-active', 'disable the flag'),
  );
}

function addToggle(commands: Command, terminal: Terminal): void {
  addApiOptions(
    commands
      .command('toggle')
      .description('enable a disabled flag, or disable an enabled one')
      .argument('<key>', 'flag key'),
  ).action(async (key: string, _options: unknown, command: Command) => {
    const { api, isJson } = opened(command, terminal);
    const { id, active } = await getFlag(api, key);
    print(terminal, (await api.call('PATCH', `feature_flags/${id}/`, { active: !active })) as Flag, isJson);
  });
}

function opened(command: Command, terminal: Terminal): { api: Api; isJson: boolean } {
  const options = command.optsWithGlobals<ApiOptions>();
  return { api: createProjectApiClient(options, terminal), isJson: options.json === true };
}

function print(terminal: Terminal, flag: Flag, isJson: boolean): void {
  if (isJson) {
    printJson(terminal, flag);
    return;
  }
  createPrinter(terminal, false).record({ ...toRow(flag), filters: JSON.stringify(flag.filters) });
  for (const warning of flag.sdk_warnings) terminal.err.write(`! ${warning}\n`);
}

function printJson(terminal: Terminal, value: unknown): void {
  terminal.out.write(`${JSON.stringify(value, null, 2)}\n`);
}

function toRow(flag: Flag): Row {
  const variants = flag.filters.multivariate?.variants ?? [];
  return {
    key: flag.key,
    name: flag.name,
    active: flag.active,
    status: flag.status.toLowerCase(),
    rollout: rolloutWords(flag.filters),
    variants: variants.map(({ key, rollout_percentage: percentage }) => `${key} ${percentage}%`),
    version: flag.version,
    lastCalledAt: flag.last_called_at,
  };
}

/** Maximum number of a flag's conditions that a list shows in one line. */
const shownConditions = 3;

/** Summarizes the release conditions, for example as `30%` or `100% where email; 20% where plan, country → green`. */
function rolloutWords({ groups = [] }: Filters): string {
  if (groups.length === 0) return 'none';
  const shown = groups.slice(0, shownConditions).map(conditionWords);
  const rest = groups.length - shown.length;
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join('; ');
}

function conditionWords({ properties, rollout_percentage: rollout, variant }: Condition): string {
  const about = (properties ?? []).map(({ key, type, value }) => (type === 'cohort' ? `cohort ${value}` : key));
  const where = about.length === 0 ? '' : ` where ${[...new Set(about)].join(', ')}`;
  return `${rollout ?? 100}%${where}${variant ? ` → ${variant}` : ''}`;
}

function parsePercentage(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 100))
    throw new InvalidArgumentError('Must be a number from 0 to 100.');
  return value;
}

interface ChangeOptions {
  rollout?: number;
  name?: string;
  filters?: string;
  active?: boolean;
}

/**
 * Builds the request body of `flags create` and `flags set`. Includes only fields for which an option was given, so
 * that all others stay unchanged. The API validates the content.
 * @throws UsageError if the filters cannot be read, or if `--rollout` is used for a flag with several conditions
 */
function flagChanges(options: ChangeOptions, stored?: Flag): Record<string, unknown> {
  const filters = withRollout(options, stored);
  return {
    ...(options.name !== undefined && { name: options.name }),
    ...(filters !== undefined && { filters }),
    ...(options.active !== undefined && { active: options.active }),
  };
}

/**
 * Sets the rollout of the only release condition in the given filters, or otherwise in those of the stored flag. If
 * neither has a condition, the rollout applies to all users.
 */
function withRollout({ filters: text, rollout }: ChangeOptions, stored?: Flag): Filters | undefined {
  const given = text === undefined ? undefined : readFilters(text);
  if (rollout === undefined) return given;
  const filters = given ?? {};
  const groups = filters.groups ?? stored?.filters.groups ?? [{}];
  const [only, ...others] = Array.isArray(groups) ? groups : [];
  if (others.length > 0) {
    throw new UsageError(
      '--rollout: The flag has several release conditions. Use --filters to set the rollout of each condition.',
    );
  }
  return { ...filters, groups: [{ ...(only ?? {}), rollout_percentage: rollout }] };
}

/** Parses JSON text, or reads a JSON file if the text is `@` followed by a path. */
function readFilters(text: string): Filters {
  let filters: unknown;
  try {
    filters = JSON.parse(text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text);
  } catch (error) {
    throw new UsageError(`--filters: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof filters !== 'object' || filters === null || Array.isArray(filters)) {
    throw new UsageError('--filters: Must be a JSON object, or @ followed by the name of a file that contains one.');
  }
  return { ...filters };
}
