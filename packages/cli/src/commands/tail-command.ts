// `millrace tail`: prints events as they are stored.

import type { ProcessedEvent } from '@millrace/contracts';
import { readTopic } from '@millrace/event-log';
import type { Command } from 'commander';
import { withLog } from '../event-log.ts';
import { parseId } from '../options.ts';
import type { Terminal } from '../output.ts';
import type { GlobalOptions } from '../session.ts';

interface TailOptions {
  project?: number;
  event?: string;
  distinctId?: string;
  properties?: boolean;
}

export function addTailCommand(program: Command, terminal: Terminal): void {
  program
    .command('tail')
    .description(
      'show events as they are stored, until interrupted. Requires PUBLISH_PROCESSED=on in the event consumer',
    )
    .option('--project <id>', 'only events from the environment with this ID', parseId)
    .option('--event <name>', 'only events with this name')
    .option('--distinct-id <id>', 'only events from this distinct ID')
    .option('--properties', 'also show the properties')
    .action((options: TailOptions, command: Command) =>
      withLog(command, terminal, async ({ log, topics }) => {
        await log.endOffsets(topics.processed);
        terminal.err.write(`Following ${topics.processed}. Press Ctrl-C to stop.\n`);
        const isJson = command.optsWithGlobals<GlobalOptions>().json === true;
        await readTopic(log, {
          topic: topics.processed,
          from: 'now',
          until: 'stopped',
          signal: terminal.interrupted ?? new AbortController().signal,
          onRecord({ value }) {
            const event = JSON.parse(value.toString('utf8')) as ProcessedEvent;
            if (matchesOptions(event, options))
              terminal.out.write(`${isJson ? JSON.stringify(event) : toLine(event, options)}\n`);
          },
        });
      }),
    );
}

function matchesOptions(event: ProcessedEvent, { project, event: name, distinctId }: TailOptions): boolean {
  if (project !== undefined && event.project_id !== project) return false;
  if (name !== undefined && event.event !== name) return false;
  return distinctId === undefined || event.distinct_id === distinctId;
}

function toLine(event: ProcessedEvent, { properties }: TailOptions): string {
  const parts = [event.timestamp, String(event.project_id), event.event, event.distinct_id, event.person_id];
  if (properties === true) parts.push(JSON.stringify(event.properties));
  // Replace control characters, which could move the terminal's cursor.
  return parts.join('  ').replace(/\p{Cc}/gu, '\uFFFD');
}
