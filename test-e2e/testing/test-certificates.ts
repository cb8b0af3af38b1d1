// Provides TLS certificates for tests, and secrets that are mounted as in Kubernetes.
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * A certificate for tests only. All certificates except one are valid for a hundred years. The authorities' private
 * keys were deleted.
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
  /** Certificate of the authority that signed the certificates of `ofThisHost` and `ofOtherHost`. */
  authorityFile: place('authority'),
  /** Certificate of an authority that did not sign any test certificate. */
  otherAuthorityFile: place('other-authority'),
  /** This file does not contain a certificate. */
  noCertificateFile: fileURLToPath(import.meta.url),
  /** Returns a self-signed certificate for `localhost` and 127.0.0.1 that expired in 2021. */
  expired: () => certificateOf('expired-host'),
  expiredFile: place('expired-host'),
  /** Returns a certificate for `localhost` and 127.0.0.1. */
  ofThisHost: () => certificateOf('this-host'),
  /** Returns a certificate for `other.example`. */
  ofOtherHost: () => certificateOf('other-host'),
};

/**
 * The files of a secret as Kubernetes mounts them. Each file is a link through one directory, so that all files can be
 * replaced at the same time.
 */
export interface MountedSecret {
  file(key: string): string;
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
