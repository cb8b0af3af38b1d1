// Commands that read a project's data through the management API, which applies its scopes, limits and time zones.

import type { Command } from 'commander';
import {
  type ApiOptions,
  addApiOptions,
  addHostOptions,
  createApiClient,
  createProjectApiClient,
} from '../management-api.ts';
import { createPrinter, type Row, type Terminal } from '../output.ts';

interface ReadCommand {
  group: string;
  name: string;
  description: string;
  scope: string;
  /** The options in Commander's syntax, each with its description. */
  options: readonly [flags: string, description: string, kind?: 'required'][];
  /** The HTTP method, GET by default. */
  method?: 'POST';
  path: string;
  /** The URL path to which `path` is relative. By default, it is the project's path. */
  base?: (options: Given) => string;
  /** Maps each query parameter to the option that sets it. */
  parameters: Record<string, string>;
  toRows(response: unknown): Row[];
}

type Given = Record<string, string | undefined>;

const after = ['--after <time>', 'start of the time range: an ISO 8601 time, or a relative time such as -7d'] as const;
const before = ['--before <time>', 'end of the time range'] as const;
const ranges = { after: 'after', before: 'before' };

function rowsOf<Result>(toRow: (result: Result) => Row): (response: unknown) => Row[] {
  return (response) => {
    const results = Array.isArray(response) ? response : (response as { results: unknown[] }).results;
    return results.map((result) => toRow(result as Result));
  };
}

const readCommands: ReadCommand[] = [
  {
    group: 'warnings',
    name: 'counts',
    scope: 'ingestion_warning:read',
    path: 'ingestion_warnings/counts',
    description: 'count ingestion warnings from the last seven days by kind, most frequent first',
    options: [
      [...after],
      [...before],
      ['--type <kind>', 'only warnings of this kind, e.g. missing_distinct_id'],
      ['--severity <severity>', 'only warnings with this severity: error, warning or info'],
    ],
    parameters: { ...ranges, type: 'type', severity: 'severity' },
    toRows: rowsOf<{ type: string; severity: string; count: number; first_at: string; last_at: string }>(
      ({ type, severity, count, first_at: firstAt, last_at: lastAt }) => ({ type, severity, count, firstAt, lastAt }),
    ),
  },
  {
    group: 'events',
    name: 'counts',
    scope: 'event:read',
    path: 'events/counts',
    description: 'count stored events over time. By default, the last day by hour',
    options: [
      [...after],
      [...before],
      ['--interval <interval>', 'minute, hour or day (default: hour)'],
      ['--event <name>', 'only events with this name'],
      ['--distinct-id <id>', 'only events from this distinct ID'],
    ],
    parameters: { ...ranges, interval: 'interval', event: 'event', distinct_id: 'distinctId' },
    toRows: rowsOf<{ start: string; count: number }>(({ start, count }) => ({ start, count })),
  },
  {
    group: 'events',
    name: 'values',
    scope: 'event:read',
    path: 'events/values',
    description: 'list the values of an event property, most frequent first',
    options: [
      ['--property <name>', 'property name', 'required'],
      ['--contains <text>', 'only values that contain this text'],
      ['--event <name>', 'only values in events with this name'],
    ],
    parameters: { key: 'property', value: 'contains', event_name: 'event' },
    toRows: rowsOf<{ name: string }>(({ name }) => ({ value: name })),
  },
  {
    group: 'events',
    name: 'test',
    scope: 'event:write',
    path: 'test_event',
    method: 'POST',
    description: "send a test event through the gateway at the management API's INGEST_URL",
    options: [
      ['--event <name>', 'event name (default: test event)'],
      ['--distinct-id <id>', 'distinct ID (default: test-user)'],
    ],
    parameters: { event: 'event', distinct_id: 'distinctId' },
    toRows: (response) => {
      const { uuid, event, distinct_id: distinctId } = response as { uuid: string; event: string; distinct_id: string };
      return [{ uuid, event, distinctId }];
    },
  },
  {
    group: 'groups',
    name: 'members',
    scope: 'person:read',
    path: 'groups/members',
    description: 'list up to 100 persons that had events in a group in the last 30 days, newest persons first',
    options: [
      ['--type-index <n>', 'group type index, 0 to 4', 'required'],
      ['--key <key>', 'group key', 'required'],
      [...after],
    ],
    parameters: { group_type_index: 'typeIndex', group_key: 'key', after: 'after' },
    toRows: rowsOf<{ uuid: string; name: string; distinct_ids: string[]; created_at: string }>(
      ({ uuid, name, distinct_ids: [distinctId = null], created_at: createdAt }) => ({
        uuid,
        name,
        distinctId,
        createdAt,
      }),
    ),
  },
  {
    group: 'groups',
    name: 'related',
    scope: 'group:read and person:read',
    path: 'groups/related',
    description: 'list the persons and groups that shared events with a group or person in the last 90 days',
    options: [
      ['--id <id>', 'group key. Without --type-index, the UUID, numeric ID or distinct ID of a person', 'required'],
      ['--type-index <n>', 'group type index, 0 to 4'],
    ],
    parameters: { id: 'id', group_type_index: 'typeIndex' },
    toRows: rowsOf<{ type: string; group_type_index?: number; id: string; name?: string }>(
      ({ type, group_type_index: typeIndex = null, id, name = null }) => ({ type, typeIndex, id, name }),
    ),
  },
  {
    group: 'org',
    name: 'activity',
    scope: 'activity_log:read',
    path: 'activity/',
    description: 'list changes in an organization and its projects, latest first, through the management API',
    options: [
      ['--organization <id>', 'organization ID (UUID)', 'required'],
      ['--scope <kind>', 'only changes to this record type, e.g. FeatureFlag'],
      ['--user <uuid>', 'only changes by this user'],
      [...after],
      [...before],
    ],
    base: ({ organization = '' }) => `/api/organizations/${encodeURIComponent(organization)}/`,
    parameters: { ...ranges, scope: 'scope', user: 'user' },
    toRows: rowsOf<Activity>(({ created_at: at, user, activity, scope, detail, item_id: itemId }) => ({
      at,
      by: user.email ?? (detail.trigger === null ? null : `millrace ${detail.trigger.job_id}`),
      activity,
      scope,
      name: detail.name,
      itemId,
      fields: (detail.changes ?? []).map(({ field }) => field),
    })),
  },
];

interface Activity {
  created_at: string;
  user: { email?: string };
  activity: string;
  scope: string;
  item_id: string;
  detail: { name: string | null; trigger: { job_id: string } | null; changes: { field: string }[] | null };
}

const groups: Record<string, string> = {
  warnings: "show a project's ingestion warnings through the management API",
  events: "query a project's stored events through the management API",
  groups: "query a project's groups through the management API",
};

/** Adds the commands `warnings …`, `events …`, `groups …` and `org activity`. */
export function addReadCommands(program: Command, terminal: Terminal): void {
  for (const definition of readCommands) {
    const group =
      program.commands.find((command) => command.name() === definition.group) ??
      program.command(definition.group).description(groups[definition.group] ?? '');
    const command = group.command(definition.name).description(definition.description);
    for (const [flags, description, kind] of definition.options) {
      if (kind === 'required') command.requiredOption(flags, description);
      else command.option(flags, description);
    }
    const scope = `the scope ${definition.scope}`;
    if (definition.base === undefined) addApiOptions(command, scope);
    else addHostOptions(command, scope);
    command.action((_options: object, called: Command) => runReadCommand(definition, called, terminal));
  }
}

async function runReadCommand(definition: ReadCommand, command: Command, terminal: Terminal): Promise<void> {
  const { method = 'GET', path, base, parameters, toRows } = definition;
  const options = command.optsWithGlobals<ApiOptions>();
  const given = command.opts<Given>();
  const api =
    base === undefined ? createProjectApiClient(options, terminal) : createApiClient(base(given), options, terminal);
  const sent = Object.entries(parameters).flatMap(([name, option]): [string, string][] => {
    const value = given[option];
    return value === undefined ? [] : [[name, value]];
  });
  const query = sent.length === 0 || method === 'POST' ? '' : `?${new URLSearchParams(sent)}`;
  const body = method === 'POST' ? Object.fromEntries(sent) : undefined;
  const response = await api.call(method, path + query, body);
  if (options.json === true) terminal.out.write(`${JSON.stringify(response, null, 2)}\n`);
  else createPrinter(terminal, false).table(toRows(response));
}
