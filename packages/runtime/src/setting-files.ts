/** The files that settings name: secrets, also ones that are exchanged while a process runs, and certificates. */

import { readFileSync } from 'node:fs';
import { environmentName } from './environment.ts';

/**
 * What a file says, read again at every call: Kubernetes exchanges the files of a secret in place. In a moment in which the
 * file is missing or empty it is what it said last.
 */
export function followFile(file: string, first: string): () => string {
  let last = first;
  return () => {
    try {
      last = readFileSync(file, 'utf8').trim() || last;
    } catch {
      // Being exchanged. What cannot be read for longer shows when a server no longer takes what it said last.
    }
    return last;
  };
}

/**
 * What stands in the files of fields that have a companion for it: `redisPassword` in the file of `REDIS_PASSWORD_FILE`.
 * @returns texts and problems by the field that they are for.
 */
export function readSecretFiles(
  fields: readonly string[],
  env: Record<string, string | undefined>,
): { texts: ReadonlyMap<string, string>; problems: ReadonlyMap<string, string> } {
  const texts = new Map<string, string>();
  const problems = new Map<string, string>();
  for (const field of fields.filter((name) => fields.includes(`${name}File`))) {
    const [name, companion] = [environmentName(field), environmentName(`${field}File`)];
    const file = env[companion]?.trim();
    if (!file) continue;
    if (env[name]?.trim()) problems.set(field, `${name} and ${companion} are both set. Remove one of them`);
    else {
      const read = readText(file);
      if ('text' in read) texts.set(field, read.text);
      else problems.set(field, `${companion}: the file ${read.problem}`);
    }
  }
  return { texts, problems };
}

function readText(file: string): { text: string } | { problem: string } {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === '' ? { problem: 'is empty' } : { text };
  } catch (error) {
    return { problem: `cannot be read (${(error as NodeJS.ErrnoException).code})` };
  }
}

/** What stood in a file when it was read. */
export interface PemFile {
  file: string;
  text: string;
}

/**
 * The certificate or key that a setting names, undefined when it names none or none that can be used.
 * @param variable how the setting is called, for its problem, which is added to `problems`.
 */
export function readPem(variable: string, file: string | undefined, problems: string[]): PemFile | undefined {
  if (file === undefined) return undefined;
  try {
    const text = readFileSync(file, 'utf8');
    if (/-----BEGIN [A-Z0-9 ]+-----/.test(text)) return { file, text };
    problems.push(`${variable}: the file is not in PEM format`);
  } catch (error) {
    problems.push(`${variable}: the file cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return undefined;
}
