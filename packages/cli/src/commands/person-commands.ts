// `millrace persons …`: commands that show and delete persons.

import { getOrganizationOfEnvironment } from '@millrace/accounts';
import { deletePersons, findPersonToDelete, readPersonDetails } from '@millrace/db';
import type { Command } from 'commander';
import { parseId } from '../options.ts';
import type { Terminal } from '../output.ts';
import { withSession } from '../session.ts';

const idArgument = 'UUID, numeric ID or a distinct ID of the person';

export function addPersonCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('persons').description('show and delete persons in an environment');
  commands
    .command('show')
    .description('show a person with all its distinct IDs')
    .requiredOption('--environment <id>', 'environment ID', parseId)
    .argument('<id>', idArgument)
    .action((id: string, { environment }: { environment: number }, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        await getOrganizationOfEnvironment(sql, environment);
        const person = await readPersonDetails(sql, environment, id);
        printer.record({
          uuid: person.uuid,
          id: person.id,
          distinctIds: person.distinct_ids,
          isIdentified: person.is_identified,
          properties: JSON.stringify(person.properties),
          createdAt: person.created_at,
        });
      }),
    );
  commands
    .command('delete')
    .description('delete a person and its distinct IDs immediately, and the rest of its data in the background')
    .requiredOption('--environment <id>', 'environment ID', parseId)
    .option('--delete-events', "also delete the person's events. Otherwise, the events are kept without person data")
    .argument('<id>', idArgument)
    .action((id: string, options: { environment: number; deleteEvents?: boolean }, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const { environment: projectId, deleteEvents: deletesEvents = false } = options;
        const deleted = await change(async (tx, { actor }) => {
          const organizationId = await getOrganizationOfEnvironment(tx, projectId);
          const { uuid } = await findPersonToDelete(tx, projectId, id);
          return deletePersons(tx, { projectId, organizationId, uuids: [uuid], deletesEvents, actor });
        });
        const [first] = deleted;
        printer.record({
          deletionId: first?.id ?? null,
          personUuid: first?.personUuid ?? null,
          deleteEvents: deletesEvents,
          deleted: first !== undefined,
        });
        printer.note(
          'The rest is deleted in the background. GET /api/environments/:id/persons/:uuid/activity/ shows the progress.',
        );
      }),
    );
}
