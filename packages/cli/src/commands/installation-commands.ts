// `millrace migrate` creates the tables, and `millrace bootstrap` creates the first organization with its owner.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createOwnedOrganization,
  createPersonalApiKey,
  createUser,
  getUser,
  listOrganizations,
} from '@millrace/accounts';
import { listProductFeatures, type PlanName } from '@millrace/contracts';
import { migrate, type Transaction } from '@millrace/db';
import { isAppError } from '@millrace/runtime';
import type { Command } from 'commander';
import { UsageError } from '../failures.ts';
import { planOption } from '../options.ts';
import { createPrinter, type Terminal } from '../output.ts';
import { type GlobalOptions, type Operator, readDatabaseUrl, type Session, withSession } from '../session.ts';

/**
 * The directory with the schema and the migrations: next to the built program, or at the repository root in a clone.
 */
export const defaultPrismaDirectory =
  ['./prisma', '../../../../prisma'].map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync) ??
  '';

export function addMigrateCommand(program: Command, terminal: Terminal): void {
  program
    .command('migrate')
    .description(
      'migrate the database to the newest schema. Safe to run repeatedly, and on several machines at the same time',
    )
    .option(
      '--prisma-directory <path>',
      'directory that contains schema.prisma and migrations/',
      defaultPrismaDirectory,
    )
    .action(async ({ prismaDirectory }: { prismaDirectory: string }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const applied = await migrateFrom(prismaDirectory, readDatabaseUrl(options, terminal));
      const printer = createPrinter(terminal, options.json === true);
      if (applied.length === 0) printer.note('The database is up to date.');
      if (applied.length > 0 || options.json) printer.record({ applied });
    });
}

/**
 * Applies the migrations in a directory.
 * @throws UsageError if the directory contains no migrations, and the errors of `migrate`
 */
async function migrateFrom(prismaDirectory: string, databaseUrl: string): Promise<string[]> {
  if (!existsSync(join(prismaDirectory, 'migrations'))) {
    throw new UsageError(`--prisma-directory: ${prismaDirectory} contains no migrations.`);
  }
  return migrate(databaseUrl, prismaDirectory);
}

interface BootstrapOptions {
  organization: string;
  email: string;
  firstName?: string;
  lastName?: string;
  project: string;
  timezone?: string;
  plan: PlanName;
  force?: boolean;
  prismaDirectory: string;
}

export function addBootstrapCommand(program: Command, terminal: Terminal): void {
  program
    .command('bootstrap')
    .description(
      'migrate the database, then create the first organization with an owner, a project and a personal API key',
    )
    .requiredOption('--email <address>', "owner's email address")
    .option('--organization <name>', 'organization name', 'My organization')
    .option('--first-name <name>', 'first name of the owner')
    .option('--last-name <name>', 'last name of the owner')
    .option('--project <name>', 'project name', 'Default project')
    .option('--timezone <name>', 'project time zone, such as Europe/Berlin (default: UTC)')
    .addOption(planOption().default('full'))
    .option('--force', 'create another organization even if one exists')
    .option(
      '--prisma-directory <path>',
      'directory that contains schema.prisma and migrations/',
      defaultPrismaDirectory,
    )
    .action(async (options: BootstrapOptions, command: Command) => {
      await migrateFrom(options.prismaDirectory, readDatabaseUrl(command.optsWithGlobals(), terminal));
      await withSession(command, terminal, async ({ sql, change, printer }) => {
        const { organization, project, force, prismaDirectory: _, ...owner } = options;
        const created = await bootstrapInstallation(change, {
          ...owner,
          organizationName: organization,
          projectName: project,
          isForced: force === true,
        });
        if (created === null) {
          printer.note('An organization already exists, so nothing was created. Use --force to create another one.');
          const [existing] = await listOrganizations(sql);
          printer.record({ created: false, organizationId: existing?.id ?? null });
          return;
        }
        printer.record({ created: true, ...created });
        printer.note('Save the personal API key now. It will not be shown again.');
      });
    });
}

interface BootstrapInput {
  organizationName: string;
  email: string;
  firstName?: string;
  lastName?: string;
  projectName: string;
  timezone?: string;
  plan: PlanName;
  /** Whether to create an organization even if one already exists. */
  isForced: boolean;
}

/** The IDs and keys of the created records, named as in the connection file of `npm start`. */
interface Bootstrapped {
  organizationId: string;
  userId: number;
  projectId: number;
  environmentId: number;
  projectApiKey: string;
  /** The key. It is returned only once, because the database stores only its hash. */
  personalApiKey: string;
}

/** An arbitrary advisory lock ID that nothing else uses in this database. */
const bootstrapLock = 7_316_555;

/**
 * Creates an organization with an owner, a project and a personal API key with all scopes, in one transaction. If
 * several processes call this at the same time, only one creates the organization, and the others find it.
 * @returns null if an organization already exists and `isForced` is false
 * @throws AppError `invalid` with the name of the invalid field
 */
export async function bootstrapInstallation(
  change: Session['change'],
  input: BootstrapInput,
): Promise<Bootstrapped | null> {
  return change(async (tx, { actor }) => {
    await tx.query('SELECT pg_advisory_xact_lock($1::bigint)', [bootstrapLock]);
    const isSetUp = (await listOrganizations(tx)).length > 0;
    return isSetUp && !input.isForced ? null : create(tx, actor, input);
  });
}

async function create(tx: Transaction, actor: Operator['actor'], input: BootstrapInput): Promise<Bootstrapped> {
  const userId = await findOrCreateUser(tx, input);
  const { organization, project, environment } = await createOwnedOrganization(tx, {
    name: input.organizationName,
    features: listProductFeatures(input.plan),
    ownerId: userId,
    project: { settings: { name: input.projectName, ...(input.timezone && { timezone: input.timezone }) } },
    actor,
  });
  const { value } = await createPersonalApiKey(tx, { userId, actor, label: 'Bootstrap', scopes: ['*'] });
  return {
    organizationId: organization.id,
    userId,
    projectId: project.id,
    environmentId: environment.id,
    projectApiKey: environment.api_token,
    personalApiKey: value,
  };
}

async function findOrCreateUser(tx: Transaction, input: BootstrapInput): Promise<number> {
  try {
    return (await getUser(tx, { email: input.email })).id;
  } catch (error) {
    if (!isAppError(error, 'not_found')) throw error;
  }
  const { email, firstName = '', lastName = '' } = input;
  return (await createUser(tx, { email, firstName, lastName, isEmailVerified: true })).id;
}
