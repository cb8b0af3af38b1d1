// What the commands of this package have in common: arguments, progress output, and errors that the user can fix.

import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';

/**
 * A problem that the user can fix, such as a missing program or a directory that belongs to a different user. Only the
 * message is shown, without a stack trace (bin/prepare/run-command.mjs).
 */
export class SetupProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SetupProblem';
  }
}

/** Shows a command's progress step by step (bin/prepare/progress.mjs). */
export interface Progress {
  print(line: string): void;
  /**
   * Runs `work` as a step. `work` may call `tell` with a detail while it runs.
   * @param options an object with `log`, the path of the log to mention if the step is slow
   */
  step<T>(title: string, work: (tell: (detail: string) => void) => Promise<T>, options?: { log?: string }): Promise<T>;
}

/** The argument of a command's `main`, which bin/prepare/run-command.mjs calls. `main` returns the exit code. */
export interface CommandContext {
  progress: Progress;
  /** The repository root, without a trailing slash. */
  root: string;
  programArguments: string[];
}
export type Command = (context: CommandContext) => Promise<number>;

/** Parses a command's options. @throws SetupProblem for an unknown option */
export function parseOptions<const T extends NonNullable<ParseArgsConfig['options']>>(
  command: string,
  words: string[],
  options: T,
) {
  try {
    return parseArgs({ args: words, options }).values;
  } catch (error) {
    throw new SetupProblem(`${command}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Returns this clone's data directory: MILLRACE_DATA_DIR, or `.millrace`. Creates it if it does not exist. */
export function dataDirectory(root: string): string {
  const directory = resolve(process.env.MILLRACE_DATA_DIR || join(root, '.millrace'));
  try {
    mkdirSync(directory, { recursive: true });
  } catch (cause) {
    throw new SetupProblem(`Could not create the data directory ${directory}: ${(cause as Error).message}`, { cause });
  }
  return directory;
}
