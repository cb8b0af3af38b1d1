// Checks of `millrace doctor` for PostgreSQL: version, migrations, privileges, connections and stored secrets.

import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Database, readDatabaseTls, readSealingKeyIds, type Sql } from '@millrace/db';
import { findSdkWarnings } from '@millrace/flags';
import { createSecretBox } from '@millrace/runtime';
import { checkPresentedCertificates, type TlsServer } from './certificates.ts';
import {
  type Check,
  type CheckedInstallation,
  checkReachable,
  connectTimeoutMs,
  type Finding,
  findingsOrOk,
  joinNames,
  type NamedFinding,
  ok,
  problem,
  runChecks,
  warning,
} from './checks.ts';
import { checkReplication, checkStorage, checkVacuum } from './postgres-storage.ts';
import {
  countPlainSecrets,
  readActiveFlags,
  readAppliedMigrations,
  readClockMs,
  readConnections,
  readHiddenServices,
  readMissingPrivileges,
  readOpenTransactions,
  readServerSdks,
  readServerState,
  readUnsafeSettings,
} from './postgres-store.ts';
import type { DoctorSettings } from './settings.ts';

/**
 * Checks PostgreSQL. If the server does not respond, checks only its certificate, because an invalid certificate may be
 * the cause.
 */
export async function diagnosePostgres(
  patient: CheckedInstallation,
  settings: DoctorSettings,
): Promise<NamedFinding[]> {
  const { database, databaseUrl, prismaDirectory } = patient;
  const certificate = {
    name: 'postgresql certificate',
    run: () => checkPresentedCertificates(tlsServers(databaseUrl), connectTimeoutMs),
  };
  const away = await checkReachable('postgresql server', () => database.sql.query('SELECT 1'), 'DATABASE_URL');
  if (away !== null) return [away, ...(await runChecks([certificate]))];
  return runChecks([...postgresChecks(database, { settings, prismaDirectory }), certificate]);
}

function tlsServers(databaseUrl: string): TlsServer[] {
  const tls = readDatabaseTls(databaseUrl);
  if (tls === null) return [];
  const { asksFirst, ...server } = tls;
  return [
    {
      ...server,
      begins: asksFirst ? 'postgresql' : 'at once',
      authoritySetting: 'DATABASE_SSL_CA_FILE (or sslrootcert)',
    },
  ];
}

interface PostgresContext {
  settings: DoctorSettings;
  /** The directory that contains this version's migrations. */
  prismaDirectory: string;
}

function postgresChecks(
  database: Pick<Database, 'sql' | 'listen'>,
  { settings, prismaDirectory }: PostgresContext,
): Check[] {
  const { sql } = database;
  return [
    { name: 'postgresql server', run: () => checkVersion(sql) },
    { name: 'postgresql migrations', run: () => checkMigrations(sql, prismaDirectory) },
    { name: 'postgresql privileges', run: () => checkPrivileges(sql) },
    { name: 'postgresql connections', run: () => checkConnections(sql, settings) },
    { name: 'postgresql transactions', run: () => checkOpenTransactions(sql) },
    { name: 'postgresql notifications', run: () => checkNotifications(database) },
    { name: 'postgresql durability', run: () => checkDurability(sql) },
    { name: 'postgresql replication', run: () => checkReplication(sql) },
    { name: 'postgresql storage', run: () => checkStorage(sql) },
    { name: 'postgresql cleaning', run: () => checkVacuum(sql) },
    { name: 'clock', run: () => checkClock(sql) },
    { name: 'secrets', run: () => checkStoredSecrets(sql, settings) },
    { name: 'flags', run: () => checkFlags(sql) },
  ];
}

const oldest = 15;

/** Checks that the server accepts writes, and that its version supports the queries of the other checks. */
async function checkVersion(sql: Sql): Promise<Finding[]> {
  return judgeServer(await readServerState(sql));
}

export function judgeServer({ version, shown, isStandby, isReadOnly }: Awaited<ReturnType<typeof readServerState>>) {
  const findings: Finding[] = [];
  if (version < oldest * 10_000) {
    findings.push(problem(`PostgreSQL ${shown} is too old for Millrace`, `Upgrade it to version ${oldest} or later.`));
  }
  if (isStandby) {
    findings.push(problem('this server is a read-only standby', 'Set DATABASE_URL to the primary.'));
  } else if (isReadOnly) {
    findings.push(
      problem('transactions are read-only', 'Set default_transaction_read_only to off for the role and the database.'),
    );
  }
  return findings.length > 0 ? findings : [ok(`PostgreSQL ${shown} responds`)];
}

/** Checks that the schema matches this version. @param prismaDirectory the directory that contains `migrations/` */
async function checkMigrations(sql: Sql, prismaDirectory: string): Promise<Finding[]> {
  const entries = await readdir(join(prismaDirectory, 'migrations'), { withFileTypes: true });
  const known = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const applied = await readAppliedMigrations(sql).catch((error: { code?: unknown }): string[] => {
    // The migrations table does not exist yet.
    if (error.code === '42P01') return [];
    throw error;
  });
  const pending = known.filter((name) => !applied.includes(name)).sort();
  const newer = applied.filter((name) => !known.includes(name));
  const findings: Finding[] = [];
  if (pending.length > 0) {
    findings.push(problem(`migrations not applied: ${joinNames(pending, 2)}`, 'Run `millrace migrate`.'));
  }
  if (newer.length > 0) {
    findings.push(
      warning(
        `the database has migrations that this version does not know: ${joinNames(newer, 2)}`,
        'Ignore this during or right after an upgrade or a rollback. Otherwise, run the newer version of this command.',
      ),
    );
  }
  return findingsOrOk(findings, `${known.length} migrations applied, none pending`);
}

/** Checks that the role can read and write every table, and create partitions of the `event` table. */
async function checkPrivileges(sql: Sql): Promise<Finding[]> {
  const lacks = await readMissingPrivileges(sql);
  const hidden = await readHiddenServices(sql);
  const findings: Finding[] = [];
  if (lacks.length > 0) {
    findings.push(
      problem(
        `this role does not have the required privileges: ${joinNames(lacks)}`,
        'Run all services with the role that ran `millrace migrate`, or make this role a member of it (GRANT <owner> TO <role>).',
      ),
    );
  }
  if (hidden.length > 0) {
    findings.push(
      warning(
        `this role cannot see the transactions of ${joinNames(hidden)}, so batch exports start later than necessary`,
        'Grant pg_read_all_stats to the role of the delivery worker.',
      ),
    );
  }
  return findingsOrOk(findings, 'this role has all privileges that the services need');
}

const fullAt = 0.8;
/** Checks that enough connections are free to start an additional service, as a rolling upgrade requires. */
async function checkConnections(sql: Sql, settings: DoctorSettings): Promise<Finding[]> {
  return [judgeConnections(await readConnections(sql), settings.databasePoolSize)];
}

/**
 * Returns a finding if too few connections are free.
 * @param wanted number of connections that an additional service may open, or 0 if unknown
 */
export function judgeConnections({ used, most }: { used: number; most: number }, wanted = 0): Finding {
  const found = `${used} of ${most} connections are in use`;
  const advice =
    'Raise max_connections, lower DATABASE_POOL_SIZE and FLAG_DATABASE_CONNECTIONS, or put a connection pooler in front of PostgreSQL.';
  if (used >= fullAt * most) return warning(`${found}, so a service may not get a connection when it starts`, advice);
  if (wanted <= most - used) return ok(found);
  return warning(`${found}, and another service with these settings may open ${wanted}`, advice);
}

/**
 * Reports transactions that have been open for a long time. Such transactions block migrations and batch exports, and
 * vacuuming must keep rows that they may still read.
 */
export async function checkOpenTransactions(sql: Sql, { longerThanSeconds = 300 } = {}): Promise<Finding[]> {
  const open = await readOpenTransactions(sql, longerThanSeconds);
  if (open.length === 0) return [ok(`no transaction has been open for longer than ${longerThanSeconds} s`)];
  const names = open.map(({ who, seconds }) => `${who} for ${seconds} s`);
  return [
    warning(
      `transactions open for longer than ${longerThanSeconds} s: ${joinNames(names, 3)}`,
      'End them with SELECT pg_terminate_backend(<process>) or ROLLBACK PREPARED. They delay exports, migrations and vacuuming.',
    ),
  ];
}

/** Checks that notifications arrive, because a pooler in transaction mode does not forward them. */
async function checkNotifications(database: Pick<Database, 'listen'>): Promise<Finding[]> {
  let listener: ReturnType<Database['listen']> | undefined;
  const outcome = new Promise<Finding>((resolve) => {
    listener = database.listen({
      channel: `millrace_doctor_${randomUUID().replaceAll('-', '')}`,
      onMessage() {},
      onStart: () => resolve(ok('notifications arrive')),
      onInterrupted: (error) => resolve(notReceived(error)),
    });
  });
  try {
    return [await outcome];
  } finally {
    await listener?.stop();
  }
}

function notReceived(error: Error): Finding {
  return warning(
    `LISTEN does not work (${error.message.split('.')[0]}), so services poll for changed keys and settings every second`,
    'Connect gateways and consumers to PostgreSQL directly instead of through a pooler in transaction mode, or set the ' +
      'pooler to session mode.',
  );
}

/** Checks that a server crash cannot lose committed data. */
async function checkDurability(sql: Sql): Promise<Finding[]> {
  const off = await readUnsafeSettings(sql);
  if (off.length === 0) return [ok('committed data survives a crash')];
  return [
    warning(
      `these settings are off: ${off.join(', ')}. A PostgreSQL crash can lose committed data and corrupt the database`,
      `Set ${off.join(', ')} to on, except for data that you can lose, such as test data.`,
    ),
  ];
}

const samples = 3;
const noticedMs = 2000;
const harmfulMs = 60_000;

/**
 * Checks that the clocks of this machine and of PostgreSQL agree.
 * @param now returns this machine's time in milliseconds
 */
export async function checkClock(sql: Sql, now = Date.now): Promise<Finding[]> {
  const measured: { skewMs: number; tookMs: number }[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const before = now();
    const theirs = await readClockMs(sql);
    const after = now();
    measured.push({ skewMs: (before + after) / 2 - theirs, tookMs: after - before });
  }
  // The measurement with the shortest round trip is the most accurate.
  const [best] = measured.sort((a, b) => a.tookMs - b.tookMs);
  return [judgeSkew(best?.skewMs ?? 0, best?.tookMs ?? 0)];
}

function judgeSkew(skewMs: number, tookMs: number): Finding {
  const off = Math.abs(skewMs);
  if (off <= noticedMs + tookMs / 2)
    return ok(`the clocks of this machine and PostgreSQL differ by less than ${noticedMs / 1000} s`);
  const found = `the clock of this machine is ${Math.round(off / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} PostgreSQL`;
  const advice = 'Synchronize both clocks with NTP. Event times, due dates and expiry times are off by this much.';
  return off > harmfulMs ? problem(found, advice) : warning(found, advice);
}

/** Checks that SECRETS_KEY can decrypt all stored secrets, and that no secret is stored without encryption. */
async function checkStoredSecrets(sql: Sql, settings: DoctorSettings): Promise<Finding[]> {
  const used = await readSealingKeyIds(sql);
  const missing = used.filter((id) => !createSecretBox(settings.secretsKey).keyIds.includes(id));
  const plain = await countPlainSecrets(sql);
  const findings: Finding[] = [];
  if (missing.length > 0) {
    const what = settings.secretsKey === undefined ? 'SECRETS_KEY is not set' : 'a key is missing from SECRETS_KEY';
    findings.push(
      problem(
        `${what}: secrets in the database are encrypted with ${missing.join(', ')}. Services do not start, and exports ` +
          'and payloads cannot be read',
        'Add the previous key after the new one: SECRETS_KEY=<new>,<previous>.',
      ),
    );
  }
  if (plain > 0 && (settings.nodeEnv === 'production' || settings.secretsKey !== undefined)) {
    findings.push(
      warning(
        `batch exports whose secrets are stored unencrypted, in the database and its backups: ${plain}`,
        'Set SECRETS_KEY for all services and run a delivery worker, which encrypts them.',
      ),
    );
  }
  return findingsOrOk(
    findings,
    used.length === 0 ? 'no encrypted secrets are stored' : 'SECRETS_KEY decrypts all stored secrets',
  );
}

/**
 * Finds flags that an SDK would evaluate differently from the server
 * (docs/flags.md#definitions-that-some-sdks-evaluate-differently). Reports only flags of projects whose recent events
 * came from that SDK.
 */
async function checkFlags(sql: Sql): Promise<Finding[]> {
  const flags = await readActiveFlags(sql);
  const sdks = await readServerSdks(sql, [...new Set(flags.map(({ projectId }) => projectId))]);
  const keysOf = new Map<string, string[]>();
  for (const { projectId, key, ...definition } of flags) {
    for (const sentence of findSdkWarnings(definition)) {
      const named: string[] = sentence.match(/posthog-\w+/g) ?? [];
      if (!named.some((sdk) => sdks.get(projectId)?.has(sdk))) continue;
      const about = `project ${projectId}: ${sentence}`;
      keysOf.set(about, [...(keysOf.get(about) ?? []), key]);
    }
  }
  const findings = [...keysOf].map(([about, keys]) =>
    warning(
      `${about} Flags: ${joinNames(keys)}`,
      'If the finding names an SDK version, update the SDK. Otherwise, turn off local evaluation in the SDK, so that ' +
        'the server evaluates the flag.',
    ),
  );
  return findingsOrOk(
    findings,
    `active flags: ${flags.length}. All SDKs that sent events recently evaluate them as the server does`,
  );
}
