import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unprivilegedUser } from '@millrace/stack/src/process/unprivileged-user.ts';
import { runOrExplain } from '../parts/run-or-explain.ts';

/** The certificate of a server, signed by an authority that clients are given; it can be replaced while it is in use. */
export interface ExpiringCertificate {
  /** File of the authority. */
  authority: string;
  /** Files of the server's, and of both in one. */
  key: string;
  certificate: string;
  keyAndCertificate: string;
  /** Puts one in its place that is valid until then. The server has to be told to read it. */
  replace(validUntil: Date): Promise<void>;
}

const year = 365 * 24 * 3600 * 1000;

export async function createExpiringCertificate(directory: string, host: string): Promise<ExpiringCertificate> {
  const place = (name: string) => join(directory, name);
  const openssl = (...words: string[]) => runOrExplain('openssl', words, { cwd: directory });
  const newKey = ['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await openssl(...newKey, '-x509', '-subj', '/CN=story', '-days', '30', '-keyout', 'ca.key', '-out', 'ca.crt');
  await openssl(...newKey, '-subj', '/CN=server', '-keyout', 'server.key', '-out', 'server.csr');
  writeFileSync(place('ca.conf'), authorityConfig(host));

  async function replace(validUntil: Date): Promise<void> {
    for (const [file, text] of [
      ['index.txt', ''],
      ['serial', '01'],
    ] as const)
      writeFileSync(place(file), text);
    const dates = ['-startdate', '20200101000000Z', '-enddate', asn1Date(validUntil)];
    await openssl('ca', '-batch', '-notext', '-config', 'ca.conf', ...dates, '-in', 'server.csr', '-out', 'server.crt');
    const both = ['server.key', 'server.crt'].map((name) => readFileSync(place(name), 'utf8'));
    writeFileSync(place('server.pem'), both.join(''), { mode: 0o600 });
    // PostgreSQL insists on who may read its key.
    const user = unprivilegedUser();
    if (user) for (const name of ['server.key', 'server.crt']) chownSync(place(name), user.uid, user.gid);
    chmodSync(place('server.key'), 0o600);
  }

  await replace(new Date(Date.now() + year));
  chmodSync(directory, 0o755);
  return {
    authority: place('ca.crt'),
    ...{ key: place('server.key'), certificate: place('server.crt'), keyAndCertificate: place('server.pem') },
    replace,
  };
}

/** `openssl ca` is the one command that takes any time for the end. */
function authorityConfig(host: string): string {
  return `[ca]
default_ca = own
[own]
dir = .
database = index.txt
serial = serial
new_certs_dir = .
certificate = ca.crt
private_key = ca.key
default_md = sha256
policy = any
x509_extensions = server
unique_subject = no
[any]
commonName = supplied
[server]
basicConstraints = critical,CA:FALSE
subjectAltName = IP:${host}
`;
}

/** `20260102030405Z` */
const asn1Date = (date: Date) => `${date.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`;
