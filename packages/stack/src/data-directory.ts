import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SetupProblem } from './setup-problem.ts';

/** Where this clone keeps what it makes: `.millrace`, or what MILLRACE_DATA_DIR says. Created when it is not there. */
export function dataDirectory(root: string): string {
  const directory = resolve(process.env.MILLRACE_DATA_DIR || join(root, '.millrace'));
  try {
    mkdirSync(directory, { recursive: true });
  } catch (cause) {
    throw new SetupProblem(`The data directory ${directory} cannot be created: ${(cause as Error).message}`, { cause });
  }
  return directory;
}
