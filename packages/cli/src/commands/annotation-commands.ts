import type { Command } from 'commander';
import { type ApiOptions, addApiOptions, createProjectApiClient } from '../management-api.ts';
import { createPrinter, type Terminal } from '../output.ts';

interface Annotation {
  id: number;
  content: string | null;
  date_marker: string | null;
  scope: string;
  creation_type: string;
}

interface CreateOptions extends ApiOptions {
  at?: string;
  organization?: boolean;
}

/** Adds `annotations …`, which manages notes about points in time. A deployment script can use it to mark a release. */
export function addAnnotationCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('annotations').description('manage project annotations through the management API');
  const list = commands
    .command('list')
    .description('list project annotations, latest first')
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<ApiOptions>();
      const page = (await createProjectApiClient(options, terminal).call('GET', 'annotations/')) as {
        results: Annotation[];
      };
      createPrinter(terminal, options.json === true).table(page.results.map(toRow));
    });
  addApiOptions(list, 'the scope annotation:read');
  const create = commands
    .command('create')
    .description('annotate a point in time, such as a release')
    .argument('<text>', 'annotation text')
    .option('--at <time>', 'ISO 8601 time to annotate (default: now)')
    .option('--organization', 'show the annotation in all projects of the organization')
    .action(async (content: string, { at, organization }: CreateOptions, command: Command) => {
      const options = command.optsWithGlobals<ApiOptions>();
      const body = {
        content,
        date_marker: at ?? new Date().toISOString(),
        scope: organization === true ? 'organization' : 'project',
        creation_type: 'GIT',
      };
      const created = (await createProjectApiClient(options, terminal).call(
        'POST',
        'annotations/',
        body,
      )) as Annotation;
      createPrinter(terminal, options.json === true).record(toRow(created));
    });
  addApiOptions(create, 'the scope annotation:write');
}

const toRow = ({ id, content, date_marker, scope, creation_type }: Annotation) => ({
  id,
  date_marker,
  scope,
  creation_type,
  content,
});
