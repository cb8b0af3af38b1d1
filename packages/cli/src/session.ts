// Opens a command's database connection and printer, and closes the connection after the command.

import { type Activity, recordActivity } from '@millrace/accounts';
import {
  buildDatabaseAddress,
  createDatabase,
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
  prisma: PrismaClient;
  printer: Printer;
  /** Applies a change and records it in the activity log, in one transaction. */
  change<T>(work: (tx: Transaction, operator: Operator) => Promise<T>): Promise<T>;
}

/**
 * The operator who runs a command. Operators are not users, so the activity log contains the command's name instead of
 * a user.
 */
export interface Operator {
  actor: { command: string };
  record(done: Omit<Activity, 'actor'>): Promise<void>;
}

export interface GlobalOptions {
  json?: boolean;
  databaseUrl?: string;
}

/** Runs one command's work with the database in the global options, and closes the database afterwards. */
export async function withSession(
  command: Command,
  terminal: Terminal,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const printer = createPrinter(terminal, options.json === true);
  // Do not log to standard output, which contains only results.
  const logger = createLogger('millrace-cli', 'error');
  const database = createDatabase({ url: readDatabaseUrl(options, terminal), logger, poolSize: 1 });
  try {
    await work({
      sql: database.sql,
      // The Prisma client. It is created on first use, because few commands need it.
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

/** Returns the full command without the program's name, for example `member set-level`. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

/** Returns the database URL. @throws UsageError if neither the option nor the environment has a valid PostgreSQL URL */
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

/**
 * Returns the database URL in the environment. Commands read the same settings as the services, so that the same
 * environment variables work for both.
 */
function addressIn(env: Terminal['env']): string | undefined {
  if (!env.DATABASE_URL && !env.DATABASE_URL_FILE) return undefined;
  try {
    return buildDatabaseAddress(readConfig(Type.Object(databaseConfigFields), env));
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.problems.join('; ')) : error;
  }
}
