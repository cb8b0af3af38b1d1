import { type Activity, recordActivity } from '@millrace/accounts';
import {
  createDatabase,
  databaseAddress,
  databaseConfigFields,
  type PrismaClient,
  type Sql,
  type Transaction,
} from '@millrace/db';
import { ConfigError, createLogger, readConfig } from '@millrace/runtime';
import type { Command } from 'commander';
import { Type } from 'typebox';
import { UsageError } from './failures.ts';
import { createPrinter, type Printer, type Terminal } from './output.ts';

export interface Session {
  sql: Sql;
  /** The typed client. */
  prisma: PrismaClient;
  printer: Printer;
  /** Runs a change and what is written down of it in one transaction: either both are kept or none. */
  change<T>(work: (tx: Transaction, operator: Operator) => Promise<T>): Promise<T>;
}

/** Who runs the command: nobody whom we know, so what is written down of it names the command. */
export interface Operator {
  actor: { command: string };
  record(done: Omit<Activity, 'actor'>): Promise<void>;
}

export interface GlobalOptions {
  json?: boolean;
  databaseUrl?: string;
}

/** Runs the work of one command with what its global options name, and closes everything afterwards. */
export async function withSession(
  command: Command,
  terminal: Terminal,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const printer = createPrinter(terminal, options.json === true);
  // Results go to standard output, so nothing may be logged there.
  const logger = createLogger('millrace-cli', 'error');
  const database = createDatabase({ url: readDatabaseUrl(options, terminal), logger, poolSize: 1 });
  try {
    await work({
      sql: database.sql,
      // Made when it is asked for: few commands need it.
      get prisma() {
        return database.prisma;
      },
      printer,
      change: (work) => {
        const actor = { command: nameOf(command) };
        return database.transaction((tx) =>
          work(tx, { actor, record: (done) => recordActivity(tx, { ...done, actor }) }),
        );
      },
    });
  } finally {
    await database.stop();
  }
}

/** The words that called it, without the program's: `member set-level`. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

/** @throws UsageError when neither the option nor the environment has a PostgreSQL address. */
export function readDatabaseUrl(options: GlobalOptions, terminal: Terminal): string {
  const url = options.databaseUrl || addressIn(terminal.env);
  if (!url)
    throw new UsageError(
      '--database-url: Pass the URL of the database, or set DATABASE_URL. Neither is needed in a clone where `npm start` is running.',
    );
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageError('--database-url: Must be a URL such as postgresql://user:password@host:5432/name.');
  }
  return url;
}

/** What the services read of it, so that the same environment serves both. */
function addressIn(env: Terminal['env']): string | undefined {
  if (!env.DATABASE_URL && !env.DATABASE_URL_FILE) return undefined;
  try {
    return databaseAddress(readConfig(Type.Object(databaseConfigFields), env));
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.problems.join('; ')) : error;
  }
}
