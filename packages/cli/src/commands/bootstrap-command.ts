import { listOrganizations } from '@millrace/accounts';
import type { PlanName } from '@millrace/contracts';
import type { Command } from 'commander';
import { bootstrapInstallation } from '../bootstrap-installation.ts';
import { planOption } from '../option-values.ts';
import { readDatabaseUrl, withSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { defaultPrismaDirectory, migrateFrom } from './migrate-command.ts';

interface Options {
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
    .description('migrate, then create the first organization with an owner, a project and a personal key')
    .requiredOption('--email <address>', "the owner's e-mail address")
    .option('--organization <name>', 'name of the organization', 'My organization')
    .option('--first-name <name>', "the owner's first name")
    .option('--last-name <name>', "the owner's last name")
    .option('--project <name>', 'name of the project', 'Default project')
    .option('--timezone <name>', "the project's time zone, like Europe/Berlin (default: UTC)")
    .addOption(planOption().default('full'))
    .option('--force', 'create another organization although there is one')
    .option('--prisma-directory <path>', 'folder with schema.prisma and migrations/', defaultPrismaDirectory)
    .action(async (options: Options, command: Command) => {
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
          printer.note('There is an organization already, so nothing was created (--force creates another one).');
          const [existing] = await listOrganizations(sql);
          printer.record({ created: false, organizationId: existing?.id ?? null });
          return;
        }
        printer.record({ created: true, ...created });
        printer.note('Keep the personal API key: it is not shown again.');
      });
    });
}
