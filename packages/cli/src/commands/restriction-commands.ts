// `millrace restriction …`: commands that restrict how events of a project API key or a distinct ID are processed.

import { addRestriction, listRestrictions, removeRestriction } from '@millrace/accounts';
import { isRestrictionKind, type RestrictionKind, restrictionKinds } from '@millrace/contracts';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Row, Terminal } from '../output.ts';
import { withSession } from '../session.ts';

interface NewRestrictionOptions {
  kind: RestrictionKind;
  projectApiKey: string;
  distinctId?: string;
  note?: string;
}

export function addRestrictionCommands(program: Command, terminal: Terminal): void {
  const commands = program
    .command('restriction')
    .description('manage restrictions on events from individual project API keys or distinct IDs');
  commands
    .command('add')
    .description('drop events, send them through the overflow topic, or store them without person processing')
    .addOption(restrictionKindOption().makeOptionMandatory())
    .requiredOption('--project-api-key <key>', 'API key of the project whose events are restricted')
    .option('--distinct-id <id>', 'only events from this distinct ID')
    .option('--note <text>', 'why the restriction exists')
    .action(({ kind, projectApiKey, distinctId, note }: NewRestrictionOptions, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const reason = note === undefined ? {} : { note };
        const added = await change(async (tx, { record }) => {
          const made = await addRestriction(tx, {
            kind,
            token: projectApiKey,
            distinctId: distinctId ?? null,
            ...reason,
          });
          await record({ ...recordOf(made), activity: 'created' });
          return made;
        });
        printer.record(toRow(added));
      }),
    );
  commands
    .command('list')
    .description('list restrictions, oldest first. Restrictions in the gateway settings are not included')
    .action((_options: object, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        printer.table((await listRestrictions(sql)).map(toRow));
      }),
    );
  commands
    .command('remove')
    .description('remove a restriction. Gateways apply the change within seconds')
    .argument('<id>', 'restriction ID, as shown by `restriction list`')
    .action((id: string, _options: object, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const removed = await change(async (tx, { record }) => {
          const removed = await removeRestriction(tx, id);
          await record({ ...recordOf(removed), activity: 'deleted' });
          return removed;
        });
        printer.record({ ...toRow(removed), removed: true });
      }),
    );
}

/** Omits the project API key and the distinct ID from the activity log. */
function recordOf({ id, kind }: { id: string; kind: string }) {
  return { organizationId: null, scope: 'IngestionRestriction' as const, itemId: id, name: kind };
}

function toRow(restriction: Awaited<ReturnType<typeof addRestriction>>): Row {
  return {
    id: restriction.id,
    kind: restriction.kind,
    projectApiKey: restriction.token,
    distinctId: restriction.distinct_id === '' ? null : restriction.distinct_id,
    note: restriction.note,
    createdAt: restriction.created_at,
  };
}

function restrictionKindOption(): Option {
  return new Option('--kind <kind>', `what happens to the events: ${restrictionKinds.join(', ')}`).argParser(
    (text): RestrictionKind => {
      if (!isRestrictionKind(text)) throw new InvalidArgumentError(`Must be ${restrictionKinds.join(' or ')}.`);
      return text;
    },
  );
}
