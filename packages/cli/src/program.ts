// Creates the `millrace` command with all its subcommands, and runs one of them.

import { Command, CommanderError } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { addAnnotationCommands } from './commands/annotation-commands.ts';
import { addConsoleLinkCommand } from './commands/console-link-command.ts';
import { addDeadLetterCommands } from './commands/dead-letter-commands.ts';
import { addDoctorCommand } from './commands/doctor-command.ts';
import { addEnvironmentCommands } from './commands/environment-commands.ts';
import { addFlagCommands } from './commands/flag-commands.ts';
import { addHealthCommand } from './commands/health-command.ts';
import { addImportCommand } from './commands/import-command.ts';
import { addInsightCommands } from './commands/insight-commands.ts';
import { addBootstrapCommand, addMigrateCommand } from './commands/installation-commands.ts';
import { addInviteCommands, addMemberCommands } from './commands/member-commands.ts';
import { addOffsetCommands } from './commands/offset-commands.ts';
import { addOrganizationCommands, addPlanCommands } from './commands/organization-commands.ts';
import { addPersonCommands } from './commands/person-commands.ts';
import { addProjectCommands } from './commands/project-commands.ts';
import { addReadCommands } from './commands/read-commands.ts';
import { addRebuildCommand } from './commands/rebuild-command.ts';
import { addFinishRestoreCommand } from './commands/restore-command.ts';
import { addRestrictionCommands } from './commands/restriction-commands.ts';
import { addSnippetCommand } from './commands/snippet-command.ts';
import { addSsoCommands } from './commands/sso-commands.ts';
import { addTailCommand } from './commands/tail-command.ts';
import { addKeyCommands, addUserCommands } from './commands/user-commands.ts';
import { describeFailure } from './failures.ts';
import type { Terminal } from './output.ts';
import { useRunningSystem } from './running-system.ts';

/**
 * Runs one command. If it fails, prints one line to `err`. With `--json`, each line on `err` is an object, `{"note":
 * …}` or `{"error": …, "exitCode": …}`.
 * @param args the words after the program's name
 * @returns the exit code: 0 for success, 1 if the command failed, 2 if it was called incorrectly, and 130 if it was
 * interrupted
 */
export async function runCli(args: string[], given: Terminal): Promise<number> {
  const isJson = (args.includes('--') ? args.slice(0, args.indexOf('--')) : args).includes('--json');
  // Commands add variables to their environment, so each run needs its own copy of the variables.
  const terminal = Object.create(given, {
    env: { value: { ...given.env } },
    ...(isJson && { err: { value: notesAsJson(given.err) } }),
  }) as Terminal;
  try {
    await createProgram(terminal).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    const { line, exitCode } = error instanceof CommanderError ? describeCall(error) : describeFailure(error);
    const text = isJson ? JSON.stringify({ error: line, exitCode }) : `error: ${line}`;
    if (line !== '') given.err.write(`${text}\n`);
    return exitCode;
  }
}

/** Describes why a call is incorrect. A request for help or for the version is not an error. */
function describeCall({ code, exitCode, message }: CommanderError): { line: string; exitCode: number } {
  if (exitCode === 0) return { line: '', exitCode };
  // If the subcommand is missing, print an error and not Commander's help.
  if (code === 'commander.help') return { line: 'Specify one of the commands above.', exitCode: 2 };
  return { line: message.replace(/^error: /, '').replaceAll(/\n/g, ' '), exitCode: 2 };
}

function notesAsJson(err: Terminal['err']): Terminal['err'] {
  return {
    write(text) {
      for (const line of text.split('\n')) if (line !== '') err.write(`${JSON.stringify({ note: line })}\n`);
    },
  };
}

/** Creates all `millrace` commands, in the order in which an operator needs them. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('millrace')
    .description('Set up and manage a Millrace installation.')
    .option('--database-url <url>', 'PostgreSQL connection URL (default: DATABASE_URL)')
    .option('--json', 'print results as JSON, and messages on standard error as one JSON object per line')
    .exitOverride()
    .version(manifest.version, '--version', 'print the version')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void terminal.out.write(text),
      writeErr: (text) => void terminal.err.write(text),
      // Do not print errors here, because `runCli` prints them in one line.
      outputError: () => {},
    })
    .hook('preAction', (_, command) => useRunningSystem(command, terminal));
  addMigrateCommand(program, terminal);
  addDoctorCommand(program, terminal);
  addBootstrapCommand(program, terminal);
  addOrganizationCommands(program, terminal);
  addUserCommands(program, terminal);
  addConsoleLinkCommand(program, terminal);
  addSsoCommands(program, terminal);
  addMemberCommands(program, terminal);
  addInviteCommands(program, terminal);
  addProjectCommands(program, terminal);
  addEnvironmentCommands(program, terminal);
  addKeyCommands(program, terminal);
  addPlanCommands(program, terminal);
  addPersonCommands(program, terminal);
  addFlagCommands(program, terminal);
  addReadCommands(program, terminal);
  addRebuildCommand(program, terminal);
  addInsightCommands(program, terminal);
  addAnnotationCommands(program, terminal);
  addSnippetCommand(program, terminal);
  addImportCommand(program, terminal);
  addRestrictionCommands(program, terminal);
  addHealthCommand(program, terminal);
  addDeadLetterCommands(program, terminal);
  addOffsetCommands(program, terminal);
  addFinishRestoreCommand(program, terminal);
  addTailCommand(program, terminal);
  return program;
}
