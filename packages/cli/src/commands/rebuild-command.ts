// `millrace events rebuild`: copies all events from PostgreSQL to ClickHouse again.

import { connectClickHouse, RebuildLosesEvents, rebuildEvents, restartPersonCopy } from '@millrace/insights';
import { type Command, Option } from 'commander';
import { Refusal, UsageError } from '../failures.ts';
import type { Terminal } from '../output.ts';
import { type GlobalOptions, readDatabaseUrl, withSession } from '../session.ts';

interface RebuildCommandOptions {
  clickhouseUrl?: string;
  postgresUrl?: string;
  loseEvents?: boolean;
  persons?: boolean;
}

/** Adds `events rebuild` to the command group `events`, which `addReadCommands` has already created. */
export function addRebuildCommand(program: Command, terminal: Terminal): void {
  const group = program.commands.find((command) => command.name() === 'events') ?? program.command('events');
  group
    .command('rebuild')
    .description(
      'copy all events from PostgreSQL to a new ClickHouse table, which then replaces the current one. If you run the command again after an interruption, it continues where it stopped. Fails if PostgreSQL has fewer events than ClickHouse in any month. The delivery worker then copies all persons again',
    )
    .option('--clickhouse-url <url>', 'http(s)://user:password@host:8123/database (default: CLICKHOUSE_URL)')
    .option(
      '--postgres-url <url>',
      'PostgreSQL URL for ClickHouse to connect to (default: CLICKHOUSE_POSTGRES_URL, or the database URL)',
    )
    .option('--lose-events', 'continue even if PostgreSQL has fewer events')
    .addOption(
      new Option('--persons', 'copy only persons again, and keep the events').conflicts([
        'clickhouseUrl',
        'postgresUrl',
        'loseEvents',
      ]),
    )
    .action((given: RebuildCommandOptions, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        if (given.persons) {
          await restartPersonCopy(sql);
          printer.note(personsNote);
          return;
        }
        const url = given.clickhouseUrl || terminal.env.CLICKHOUSE_URL;
        if (!url) throw new UsageError('--clickhouse-url: Pass the ClickHouse URL, or set CLICKHOUSE_URL.');
        const postgresUrl =
          given.postgresUrl ||
          terminal.env.CLICKHOUSE_POSTGRES_URL ||
          readDatabaseUrl(command.optsWithGlobals<GlobalOptions>(), terminal);
        const client = connectClickHouse(url);
        try {
          await rebuildEvents({
            client,
            sql,
            postgres: { url: postgresUrl },
            mayLose: given.loseEvents === true,
            onProgress: (until, share) =>
              printer.note(`${Math.floor(share * 100)}%: copied events stored until ${until.toISOString()}`),
          });
          printer.note(`The new table is in use. The delivery worker copies newer events. ${personsNote}`);
        } catch (error) {
          throw error instanceof RebuildLosesEvents ? new Refusal(explain(error)) : error;
        } finally {
          await client.close();
        }
      }),
    );
}

const personsNote =
  'The delivery worker copies all persons again. Until it has finished, queries read persons from PostgreSQL.';

function explain({ months }: RebuildLosesEvents): string {
  const lines = months
    .slice(0, 12)
    .map(({ month, here, there }) => `${month}: ${here} in PostgreSQL, ${there} in ClickHouse`);
  return (
    `PostgreSQL has fewer events than ClickHouse, so events would be missing from the new table: ${lines.join('; ')}. ` +
    'Pass --lose-events to continue anyway.'
  );
}
