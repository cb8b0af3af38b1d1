import { CoversLess, connectClickHouse, rebuildEvents } from '@millrace/insights';
import type { Command } from 'commander';
import { Refusal, UsageError } from '../failures.ts';
import type { Terminal } from '../output.ts';
import { type GlobalOptions, readDatabaseUrl, withSession } from '../session.ts';

interface RebuildCommandOptions {
  clickhouseUrl?: string;
  postgresUrl?: string;
  loseEvents?: boolean;
}

/** `events rebuild`, in the group that the questions have made. */
export function addRebuildCommand(program: Command, terminal: Terminal): void {
  const group = program.commands.find((command) => command.name() === 'events') ?? program.command('events');
  group
    .command('rebuild')
    .description(
      'fill the events of ClickHouse anew from PostgreSQL, beside those that questions are asked of, and put them in their place. One that was broken off goes on where it was. Refused where PostgreSQL has fewer events of a month',
    )
    .option('--clickhouse-url <url>', 'http(s)://user:password@host:8123/database (default: CLICKHOUSE_URL)')
    .option(
      '--postgres-url <url>',
      'PostgreSQL as ClickHouse reaches it (default: CLICKHOUSE_POSTGRES_URL, or the address of the database)',
    )
    .option('--lose-events', 'go on although PostgreSQL has fewer events')
    .action((given: RebuildCommandOptions, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        const url = given.clickhouseUrl || terminal.env.CLICKHOUSE_URL;
        if (!url) throw new UsageError('--clickhouse-url: give the address of ClickHouse, or set CLICKHOUSE_URL');
        const postgresUrl =
          given.postgresUrl ||
          terminal.env.CLICKHOUSE_POSTGRES_URL ||
          readDatabaseUrl(command.optsWithGlobals<GlobalOptions>(), terminal);
        const client = connectClickHouse(url);
        try {
          await rebuildEvents({
            ...{ client, sql, postgres: { url: postgresUrl }, mayLose: given.loseEvents === true },
            onProgress: (until, share) =>
              printer.note(`${Math.floor(share * 100)} %: events that were stored until ${until.toISOString()}`),
          });
          printer.note('The new table is in place. The delivery worker copies what was stored since.');
        } catch (error) {
          throw error instanceof CoversLess ? new Refusal(explain(error)) : error;
        } finally {
          await client.close();
        }
      }),
    );
}

function explain({ months }: CoversLess): string {
  const shown = months
    .slice(0, 12)
    .map(({ month, here, there }) => `${month}: ${here} in PostgreSQL, ${there} in ClickHouse`);
  return `PostgreSQL has fewer events than ClickHouse, which a new table would lack: ${shown.join('; ')}. --lose-events goes on all the same`;
}
