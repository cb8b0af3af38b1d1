import { readFileSync } from 'node:fs';
import { environmentName } from './environment-name.ts';

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
    if (env[name]?.trim()) problems.set(field, `${name} and ${companion} are both set`);
    else {
      const read = readText(file);
      if ('text' in read) texts.set(field, read.text);
      else problems.set(field, `${companion} names a file that ${read.problem}`);
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
