import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '@millrace/db';
import { prismaDirectory, testServers } from '@millrace/testing';
import pg from 'pg';
import { copyOfPrisma } from '../../db/src/testing/prisma-copy.ts';
import { fillOldInstallation } from './migrations/old-installation.ts';
import { type LongestStatements, startStatementLoops } from './migrations/statement-loops.ts';
import { processorFacts } from './report/environment-facts.ts';
import { readable, textTable } from './report/text-table.ts';
import { createOwnDatabase } from './topic/own-database.ts';

export interface MigrationsBenchOptions {
  /** Events stored before the first of the migrations; a person for every fifth. */
  rows: number;
}

interface Measured extends LongestStatements {
  name: string;
  seconds: number;
}

/** The promise: no statement of a service waits for longer because of what a migration locks. */
const longestWaitMs = 200;
const quietMs = 3000;

/**
 * Takes an installation of the very first release with so many rows through every migration since, one by one, while
 * statements of services run beside, and says how long any of them took.
 */
export async function benchMigrations({ rows }: MigrationsBenchOptions, print: (line: string) => void): Promise<void> {
  const own = await createOwnDatabase(testServers().databaseUrl);
  const prisma = copyOfPrisma(prismaDirectory);
  const pool = new pg.Pool({ connectionString: own.url, max: 4 });
  try {
    for (const fact of processorFacts()) print(fact);
    const [first = '', ...rest] = prisma.names();
    const texts = rest.map((name) => ({ name, sql: prisma.read(name) }));
    prisma.leaveOut(rest);
    await migrate(own.url, prisma.directory);
    print(`filling ${readable(rows)} events into the schema of ${first}`);
    await fillOldInstallation(pool, rows);
    const { rows: size } = await pool.query<{ size: string }>(
      'SELECT pg_size_pretty(pg_database_size(current_database())) AS size',
    );
    print(`${size[0]?.size} stored`);

    const loops = await startStatementLoops(own.url, rows);
    const measured: Measured[] = [];
    try {
      await sleep(quietMs);
      loops.longest();
      await sleep(quietMs * 3);
      measured.push({ name: '(none, 9 s)', seconds: 9, ...loops.longest() });
      for (const { name, sql } of texts) {
        prisma.write(name, sql);
        loops.longest();
        const startedAt = performance.now();
        await migrate(own.url, prisma.directory);
        const seconds = (performance.now() - startedAt) / 1000;
        measured.push({ name, seconds, ...loops.longest() });
      }
    } finally {
      await loops.stop();
    }
    print(report(measured, loops.failures()));
  } finally {
    await pool.end();
    prisma.remove();
    await own.drop();
  }
}

function report(measured: readonly Measured[], failures: readonly string[]): string {
  const lines = measured.map(({ name, seconds, write, read, lockWait }) => [
    name,
    seconds.toFixed(2),
    ...[write, read, lockWait].map((ms) => ms.toFixed(0)),
  ]);
  const longest = Math.max(...measured.slice(1).map(({ lockWait }) => lockWait));
  const isMet = longest <= longestWaitMs && failures.length === 0;
  return [
    '',
    textTable([['migration', 'took s', 'longest write ms', 'longest read ms', 'of it for locks'], ...lines]),
    '',
    `${isMet ? 'MET' : 'NOT MET'}  no statement beside a migration waits more than ${longestWaitMs} ms for a lock: ${longest.toFixed(0)} ms; refused: ${failures.length}${failures.length > 0 ? ` (${failures[0]})` : ''}`,
  ].join('\n');
}
