import { readFileSync } from 'node:fs';

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
    problems.push(`${variable} names a file that is not in PEM format`);
  } catch (error) {
    problems.push(`${variable} names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return undefined;
}
