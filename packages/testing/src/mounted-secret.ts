import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Files of a secret as Kubernetes mounts them: each a link through one directory, which is exchanged as a whole. */
export interface MountedSecret {
  file(key: string): string;
  /** What the secret holds from now on. */
  exchange(entries: Record<string, string>): void;
  remove(): void;
}

export function mountSecret(entries: Record<string, string>): MountedSecret {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-secret-'));
  let version = 0;

  function exchange(next: Record<string, string>): void {
    version += 1;
    mkdirSync(join(directory, `..version-${version}`));
    for (const [key, text] of Object.entries(next)) writeFileSync(join(directory, `..version-${version}`, key), text);
    symlinkSync(`..version-${version}`, join(directory, '..data_tmp'));
    renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
    rmSync(join(directory, `..version-${version - 1}`), { recursive: true, force: true });
  }

  exchange(entries);
  for (const key of Object.keys(entries)) symlinkSync(join('..data', key), join(directory, key));
  return {
    file: (key) => join(directory, key),
    exchange,
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
