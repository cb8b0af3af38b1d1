// Certificates for TLS in tests, and secrets as Kubernetes mounts them.
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Certificates of servers that exist in tests only, valid for a hundred years but for one. The authorities' own keys were thrown away.
 */
export interface TestCertificate {
  cert: string;
  key: string;
}

const place = (name: string) => fileURLToPath(new URL(`./certificates/${name}.pem`, import.meta.url));
const certificateOf = (name: string): TestCertificate => ({
  cert: readFileSync(place(name), 'utf8'),
  key: readFileSync(place(`${name}-key`), 'utf8'),
});

export const testCertificates = {
  /** File of the authority that signed both. */
  authorityFile: place('authority'),
  /** File of one that signed neither. */
  otherAuthorityFile: place('other-authority'),
  /** A file that is there and is no certificate. */
  noCertificateFile: fileURLToPath(import.meta.url),
  /** Of `localhost` and 127.0.0.1, and its own authority; expired in 2021. */
  expired: () => certificateOf('expired-host'),
  expiredFile: place('expired-host'),
  /** Of `localhost` and 127.0.0.1. */
  ofThisHost: () => certificateOf('this-host'),
  /** Of `other.example`. */
  ofOtherHost: () => certificateOf('other-host'),
};

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
