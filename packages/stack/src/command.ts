import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';

/**
 * Something the person at the terminal can put right: a program that is missing, a directory that belongs to somebody
 * else. Shown as its message alone, without a stack (bin/prepare/run-command.mjs).
 */
export class SetupProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SetupProblem';
  }
}

/** Shows what is being done, step by step (bin/prepare/progress.mjs). */
export interface Progress {
  /** A line of its own, between the steps. */
  print(line: string): void;
  /**
   * Runs `work` as a step; it may call `tell` with a detail while it runs.
   * @param options `log`: the file to look into when the step takes long
   */
  step<T>(title: string, work: (tell: (detail: string) => void) => Promise<T>, options?: { log?: string }): Promise<T>;
}

/** What a command's `main` is given by bin/prepare/run-command.mjs, and what it answers: the exit code. */
export interface CommandContext {
  progress: Progress;
  /** The repository's root, without a slash at its end. */
  root: string;
  programArguments: string[];
}
export type Command = (context: CommandContext) => Promise<number>;

/** The options a command was given. @throws SetupProblem for one that it does not know */
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

/** Where this clone keeps what it makes: `.millrace`, or what MILLRACE_DATA_DIR says. Created when it is not there. */
export function dataDirectory(root: string): string {
  const directory = resolve(process.env.MILLRACE_DATA_DIR || join(root, '.millrace'));
  try {
    mkdirSync(directory, { recursive: true });
  } catch (cause) {
    throw new SetupProblem(`Could not create the data directory ${directory}: ${(cause as Error).message}`, { cause });
  }
  return directory;
}
