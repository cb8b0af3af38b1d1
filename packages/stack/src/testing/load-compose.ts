import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCacheDirectory } from '../fetched-programs.ts';
import { hasProgram, runProgram } from '../run-program.ts';

/**
 * A Compose file as loaded by Docker's own library, which replaces variables, adds defaults and expands short forms.
 */
export interface ComposeProject {
  services: Record<string, ComposeService>;
}

export interface ComposeService {
  image: string;
  command: string[] | null;
  profiles?: string[];
  entrypoint: string[] | null;
  environment?: Record<string, string | null>;
  ports?: { host_ip?: string; target: number }[];
  volumes?: { type: 'bind' | 'volume'; source: string; target: string; read_only?: boolean }[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  read_only?: boolean;
  cap_drop?: string[];
  /** A duration in Go's format: `35s`, `1m0s`. */
  stop_grace_period?: string;
}

/** Returns why Compose files cannot be loaded on this machine, or an empty string if they can be loaded. */
export async function findComposeLoaderProblem(): Promise<string> {
  return (await hasProgram('go')) ? '' : 'go is not on the PATH';
}

/** Loads a Compose file. @throws Error with the library's message if the file is invalid */
export async function loadCompose(file: string): Promise<ComposeProject> {
  const source = fileURLToPath(new URL('./compose-loader/', import.meta.url));
  const program = join(findCacheDirectory(), 'compose-loader');
  await succeed('go', ['build', '-C', source, '-mod=readonly', '-o', program, '.']);
  return JSON.parse(await succeed(program, [file])) as ComposeProject;
}

async function succeed(program: string, programArguments: string[]): Promise<string> {
  const { status, output } = await runProgram(program, programArguments);
  if (status !== 0) throw new Error(`${program}: ${output.trim()}`);
  return output;
}
