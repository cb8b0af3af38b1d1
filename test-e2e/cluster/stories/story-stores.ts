// Starts the data stores for test stories, with certificates that can be replaced by expired ones.
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findUnprivilegedUser } from '@millrace/stack/run-program';
import { startKafka } from '@millrace/stack/servers/kafka';
import { startPostgres } from '@millrace/stack/servers/postgres';
import { startRedis } from '@millrace/stack/servers/redis';
import { createReaper, findFreePort } from '@millrace/stack/servers/server-process';
import { type BreakableServer, startBreakableServer } from '@millrace/testing';
import pg from 'pg';
import { hostAddress } from '../node/cluster-network.ts';
import { runOrExplain } from '../parts/run-or-explain.ts';

/** PostgreSQL, Kafka and Redis. They run outside the cluster, at IP addresses that pods can reach. */
export interface StoryStores {
  postgres: BreakableServer;
  certificates: { postgres: ExpiringCertificate; kafka: ExpiringCertificate };
  kafka: BreakableServer;
  /** Kafka's host and port for TLS connections. */
  kafkaByTls: string;
  /** Directory of Kafka's records, on a separate small disk. */
  kafkaDisk: string;
  redis: BreakableServer;
  database: pg.Pool;
}

/** The disk is large enough for a story, but small enough that a story can fill it with a file. */
const kafkaDiskSize = '2g';

/** Starts the stores. Must be called in the cluster's namespaces. The stores end with the namespaces. */
export async function startStores(directory: string): Promise<StoryStores> {
  const reaper = createReaper();
  const place = (name: string) => {
    mkdirSync(join(directory, name), { recursive: true });
    return join(directory, name);
  };
  const kafkaDisk = join(place('kafka'), 'data');
  mkdirSync(kafkaDisk);
  await runOrExplain('mount', ['-t', 'tmpfs', '-o', `size=${kafkaDiskSize}`, 'tmpfs', kafkaDisk]);
  const certificates = {
    postgres: await createExpiringCertificate(place('postgres-certificates'), hostAddress),
    kafka: await createExpiringCertificate(place('kafka-certificates'), hostAddress),
  };
  const own = async (name: string, killSignal: NodeJS.Signals, start: typeof startRedis) =>
    startBreakableServer({
      ...{ directory: place(name), killSignal },
      start: async (port) =>
        start({ directory: place(name), host: hostAddress, preferredPort: port || (await findFreePort()), reaper }),
    });
  const { key, certificate } = certificates.postgres;
  const tls = { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key };
  // A commit must survive a PostgreSQL crash, but not a machine crash.
  const settings = { fsync: 'off', full_page_writes: 'off', ...tls };
  const secured = { port: await findFreePort(), keyStore: certificates.kafka.keyAndCertificate };
  const [postgres, kafka, redis] = await Promise.all([
    own('postgres', 'SIGQUIT', (options) => startPostgres({ ...options, settings })),
    own('kafka', 'SIGKILL', (options) => startKafka({ ...options, secured })),
    own('redis', 'SIGKILL', startRedis),
  ]);
  const database = new pg.Pool({ connectionString: postgres.address, max: 3, connectionTimeoutMillis: 2000 });
  database.on('error', () => {});
  const kafkaByTls = `${hostAddress}:${secured.port}`;
  return { postgres, certificates, kafka, kafkaByTls, kafkaDisk, redis, database };
}

/** A server certificate that can be replaced during use. Clients trust the authority that signed it. */
interface ExpiringCertificate {
  /** Path of the authority's certificate. */
  authority: string;
  /** Paths of the server's key, its certificate, and a file with both. */
  key: string;
  certificate: string;
  keyAndCertificate: string;
  /** Replaces the certificate by one that expires at the given time. The server must then reload it. */
  replace(validUntil: Date): Promise<void>;
}

const year = 365 * 24 * 3600 * 1000;

async function createExpiringCertificate(directory: string, host: string): Promise<ExpiringCertificate> {
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
    // PostgreSQL checks the owner and the permissions of its key file.
    const user = findUnprivilegedUser();
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

/** Returns a configuration for `openssl ca`, the only openssl command that accepts any expiry time. */
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

const asn1Date = (date: Date) => `${date.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`;
