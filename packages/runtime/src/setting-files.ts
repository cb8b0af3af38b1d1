/** Reads the files that settings specify: certificates, and secrets that may be replaced while the process runs. */

import { readFileSync } from 'node:fs';
import { toEnvironmentVariable } from './environment.ts';

/**
 * Returns a function that reads the current content of a file. Kubernetes replaces the files of a secret in place.
 * While the file is missing or empty, the function returns the previous content.
 */
export function createFileReader(file: string, first: string): () => string {
  let last = first;
  return () => {
    try {
      last = readFileSync(file, 'utf8').trim() || last;
    } catch {
      // The file is being replaced. If it remains unreadable, operators notice when a server rejects the previous
      // secret.
    }
    return last;
  };
}

/**
 * Reads the secrets of fields that have a companion, such as `redisPassword` from the file in `REDIS_PASSWORD_FILE`.
 * @returns texts and problems by field
 */
export function readSecretFiles(
  fields: readonly string[],
  env: Record<string, string | undefined>,
): { texts: ReadonlyMap<string, string>; problems: ReadonlyMap<string, string> } {
  const texts = new Map<string, string>();
  const problems = new Map<string, string>();
  for (const field of fields.filter((name) => fields.includes(`${name}File`))) {
    const [name, companion] = [toEnvironmentVariable(field), toEnvironmentVariable(`${field}File`)];
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

/** A file's content at the time at which it was read. */
export interface PemFile {
  file: string;
  text: string;
}

/**
 * Reads the certificate or key file of a setting. Returns undefined if the setting is unset or invalid.
 * @param variable the environment variable, for the message that is added to `problems`
 */
export function readPemFile(variable: string, file: string | undefined, problems: string[]): PemFile | undefined {
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
