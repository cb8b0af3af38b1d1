/** Reads the files that settings name: certificates, and secrets that operators can replace at runtime. */

import { readFileSync } from 'node:fs';
import { toEnvironmentVariable } from './environment.ts';

/**
 * Returns a function that reads the current content of a file. While the file is missing or empty, it returns the
 * previous content, because Kubernetes replaces the files of a secret in place.
 */
export function createFileReader(file: string, first: string): () => string {
  let last = first;
  return () => {
    try {
      last = readFileSync(file, 'utf8').trim() || last;
    } catch {
      // The file is probably being replaced. If it stays unreadable, operators notice when a server rejects the old
      // secret.
    }
    return last;
  };
}

/**
 * Reads `redisPassword` from the file in `REDIS_PASSWORD_FILE`, and likewise every field with a companion `…File`
 * field.
 * @returns the contents and the problems, by field
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

export interface PemFile {
  file: string;
  text: string;
}

/**
 * Reads the certificate or key file of a setting. Returns undefined if the setting is not set, or if the file is
 * invalid.
 * @param variable the environment variable, for the messages in `problems`
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
