import { SetupProblem } from '@millrace/stack/command';
import { type ProgramOptions, runProgram } from '@millrace/stack/run-program';

/**
 * Runs a program that must succeed, and returns its output.
 * @throws SetupProblem with the end of the output
 */
export async function runOrExplain(
  command: string,
  words: readonly string[],
  options: ProgramOptions = {},
): Promise<string> {
  const { status, output } = await runProgram(command, words, options);
  if (status === 0) return output;
  const end = output.trim().split('\n').slice(-5).join('\n');
  throw new SetupProblem(`\`${[command, ...words].join(' ')}\` ended with ${status}:\n${end}`);
}
