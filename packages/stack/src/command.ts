import { type ParseArgsConfig, parseArgs } from 'node:util';
import { SetupProblem } from './setup-problem.ts';

/** Shows what is being done, step by step (bin/prepare/progress.mjs). */
export interface Progress {
  /** A line of its own, between the steps. */
  print(line: string): void;
  /** Runs `work` as a step; it may call `tell` with a detail while it runs. */
  step<T>(title: string, work: (tell: (detail: string) => void) => Promise<T>): Promise<T>;
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
