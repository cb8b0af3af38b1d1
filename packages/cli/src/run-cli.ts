import { CommanderError } from 'commander';
import { createProgram } from './create-program.ts';
import { describeFailure } from './describe-failure.ts';
import type { Terminal } from './terminal.ts';

/**
 * Runs one command. A failure is one line on `err`; with `--json` every line there is an object, `{"note": …}` or
 * `{"error": …, "exitCode": …}`.
 * @param args the words after the program's name.
 * @returns exit code: 0 done, 1 the command failed, 2 it was called wrongly, 130 it was interrupted.
 */
export async function runCli(args: string[], given: Terminal): Promise<number> {
  const isJson = (args.includes('--') ? args.slice(0, args.indexOf('--')) : args).includes('--json');
  // What a command finds out about its environment is its own.
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

/** What is wrong with the words it was called with. Help and version that were asked for are no failure. */
function describeCall({ code, exitCode, message }: CommanderError): { line: string; exitCode: number } {
  if (exitCode === 0) return { line: '', exitCode };
  // Help was shown instead: a command without the word that says what to do.
  if (code === 'commander.help') return { line: 'say what to do: one of the commands above', exitCode: 2 };
  return { line: message.replace(/^error: /, '').replaceAll(/\n/g, ' '), exitCode: 2 };
}

function notesAsJson(err: Terminal['err']): Terminal['err'] {
  return {
    write(text) {
      for (const line of text.split('\n')) if (line !== '') err.write(`${JSON.stringify({ note: line })}\n`);
    },
  };
}
