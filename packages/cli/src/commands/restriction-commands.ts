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
    .description('exceptions for the events of single keys or distinct ids');
  commands
    .command('add')
    .description('drop events, send them through the overflow lane, or store them without persons')
    .addOption(restrictionKindOption().makeOptionMandatory())
    .requiredOption('--project-api-key <key>', 'whose events')
    .option('--distinct-id <id>', 'only those of this distinct id')
    .option('--note <text>', 'why, for whoever finds it later')
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
    .description('list them, the oldest first; those from settings of the gateways are not in it')
    .action((_options: object, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        printer.table((await listRestrictions(sql)).map(toRow));
      }),
    );
  commands
    .command('remove')
    .description('end one; gateways follow within seconds')
    .argument('<id>', "the restriction's id, as `restriction list` shows it")
    .action((id: string, _options: object, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const removed = await change(async (tx, { record }) => {
          const gone = await removeRestriction(tx, id);
          await record({ ...recordOf(gone), activity: 'deleted' });
          return gone;
        });
        printer.record({ ...toRow(removed), removed: true });
      }),
    );
}

/** Neither the key nor the distinct id stands in the history. */
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

/** `--kind drop_event|force_overflow|skip_person_processing`. */
function restrictionKindOption(): Option {
  return new Option('--kind <kind>', `what happens to the events: ${restrictionKinds.join(', ')}`).argParser(
    (text): RestrictionKind => {
      if (!isRestrictionKind(text)) throw new InvalidArgumentError(`Choose ${restrictionKinds.join(' or ')}.`);
      return text;
    },
  );
}
