import { CommanderError } from 'commander';
import { createProgram } from './create-program.ts';
import { describeFailure } from './describe-failure.ts';
import type { Terminal } from './terminal.ts';

/**
 * Runs one command. A failure is one line on `err`.
 * @param args the words after the program's name.
 * @returns exit code: 0 done, 1 the command failed, 2 it was called wrongly, 130 it was interrupted.
 */
export async function runCli(args: string[], terminal: Terminal): Promise<number> {
  try {
    await createProgram(terminal).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has said what is wrong; help that was asked for is no failure.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { line, exitCode } = describeFailure(error);
    terminal.err.write(`error: ${line}\n`);
    return exitCode;
  }
}
