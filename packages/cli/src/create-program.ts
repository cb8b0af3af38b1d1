import { Command } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { addBootstrapCommand } from './commands/bootstrap-command.ts';
import { addDeadLetterCommands } from './commands/dead-letter-commands.ts';
import { addDoctorCommand } from './commands/doctor-command.ts';
import { addEnvironmentCommands } from './commands/environment-commands.ts';
import { addFlagCommands } from './commands/flag-commands.ts';
import { addImportCommand } from './commands/import-command.ts';
import { addInviteCommands } from './commands/invite-commands.ts';
import { addKeyCommands } from './commands/key-commands.ts';
import { addMemberCommands } from './commands/member-commands.ts';
import { addMigrateCommand } from './commands/migrate-command.ts';
import { addOffsetCommands } from './commands/offset-commands.ts';
import { addOrganizationCommands } from './commands/organization-commands.ts';
import { addPersonCommands } from './commands/person-commands.ts';
import { addPlanCommands } from './commands/plan-commands.ts';
import { addProjectCommands } from './commands/project-commands.ts';
import { addRestoreCommand } from './commands/restore-command.ts';
import { addRestrictionCommands } from './commands/restriction-commands.ts';
import { addSnippetCommand } from './commands/snippet-command.ts';
import { addTailCommand } from './commands/tail-command.ts';
import { addUserCommands } from './commands/user-commands.ts';
import { useRunningSystem } from './running-system.ts';
import type { Terminal } from './terminal.ts';

/** All commands of `millrace`, in the order an operator meets them. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('millrace')
    .description('Sets up and administers a Millrace installation.')
    .option('--database-url <url>', 'PostgreSQL address (default: DATABASE_URL)')
    .option('--json', 'print results as JSON, and on standard error a JSON object for each line')
    .exitOverride()
    .version(manifest.version, '--version', 'print the version')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void terminal.out.write(text),
      writeErr: (text) => void terminal.err.write(text),
      // It is said by who runs the program, in one line.
      outputError: () => {},
    })
    .hook('preAction', (_, command) => useRunningSystem(command, terminal));
  addMigrateCommand(program, terminal);
  addDoctorCommand(program, terminal);
  addBootstrapCommand(program, terminal);
  addOrganizationCommands(program, terminal);
  addUserCommands(program, terminal);
  addMemberCommands(program, terminal);
  addInviteCommands(program, terminal);
  addProjectCommands(program, terminal);
  addEnvironmentCommands(program, terminal);
  addKeyCommands(program, terminal);
  addPlanCommands(program, terminal);
  addPersonCommands(program, terminal);
  addFlagCommands(program, terminal);
  addSnippetCommand(program, terminal);
  addImportCommand(program, terminal);
  addRestrictionCommands(program, terminal);
  addDeadLetterCommands(program, terminal);
  addOffsetCommands(program, terminal);
  addRestoreCommand(program, terminal);
  addTailCommand(program, terminal);
  return program;
}
