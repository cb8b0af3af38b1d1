import { readFileSync } from 'node:fs';
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
