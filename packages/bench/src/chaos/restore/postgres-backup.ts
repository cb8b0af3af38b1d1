import { appendFileSync, chownSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runProgram } from '@millrace/stack/run-program';
import { eventually } from '@millrace/testing';
import pg from 'pg';

/** A PostgreSQL whose write-ahead log is archived, with what is needed to bring it back: as docs/operations/backup.md does it. */
export interface PostgresBackup {
  /** Copies the whole cluster while it is in use. @returns what it took. */
  takeBase(): Promise<{ seconds: number; megabytes: number }>;
  /** Resolves when everything committed by now is in the archive. */
  archiveAll(): Promise<void>;
  /** What a broken disk leaves. The server must be stopped. */
  destroy(): void;
  /**
   * Puts the base backup in the place of the data directory and has the archive replayed when the server starts.
   * @param until the moment to stop at; null for the end of the archive.
   */
  putBack(until: Date | null): Promise<void>;
}

/** @param archiveTimeout after so many seconds what was written is archived, also when a segment is not full. */
export async function startArchiving(address: string, archiveTimeout: number): Promise<PostgresBackup> {
  const [row] = await ask<{ data_directory: string }>(address, 'SHOW data_directory');
  const data = row?.data_directory ?? '';
  const { uid, gid } = statSync(data);
  const ownDirectory = (name: string) => {
    const directory = join(dirname(data), name);
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { mode: 0o700 });
    chownSync(directory, uid, gid);
    return directory;
  };
  const archive = ownDirectory('archive');
  const base = join(dirname(data), 'base');
  await ask(address, `ALTER SYSTEM SET archive_command = 'test ! -f "${archive}/%f" && cp "%p" "${archive}/%f"'`);
  await ask(address, `ALTER SYSTEM SET archive_timeout = ${archiveTimeout}`);
  await ask(address, 'SELECT pg_reload_conf()');

  return {
    async takeBase() {
      const startedAt = performance.now();
      rmSync(base, { recursive: true, force: true });
      await copyWhileInUse(address, data, base);
      const { output } = await runProgram('du', ['-sm', base], { cwd: '/' });
      return { seconds: (performance.now() - startedAt) / 1000, megabytes: Number.parseInt(output, 10) };
    },
    async archiveAll() {
      const [last] = await ask<{ segment: string }>(address, 'SELECT pg_walfile_name(pg_switch_wal()) AS segment');
      await eventually(() => existsSync(join(archive, last?.segment ?? '')), { what: 'The archived segment' });
    },
    destroy: () => rmSync(data, { recursive: true }),
    async putBack(until) {
      await copy(base, data);
      const recovery = [
        `restore_command = 'cp "${archive}/%f" "%p"'`,
        // With a blank and an offset: PostgreSQL refuses to start over an ISO 8601 of the shape that JavaScript writes.
        ...(until === null
          ? []
          : [`recovery_target_time = '${until.toISOString().replace('T', ' ').replace('Z', '+00')}'`]),
        `recovery_target_action = 'promote'`,
      ];
      appendFileSync(join(data, 'postgresql.auto.conf'), `${recovery.join('\n')}\n`);
      writeFileSync(join(data, 'recovery.signal'), '');
      chownSync(join(data, 'recovery.signal'), uid, gid);
    },
  };
}

/** Fills an empty data directory with a cluster that follows the one at `address` as its standby. */
export async function copyAsStandby(address: string, to: string): Promise<void> {
  const [row] = await ask<{ data_directory: string }>(address, 'SHOW data_directory');
  rmSync(to, { recursive: true });
  await copyWhileInUse(address, row?.data_directory ?? '', to);
  const { hostname, port, username, password } = new URL(address);
  const primary = `host=${hostname} port=${port} user=${username} password=${password}`;
  appendFileSync(join(to, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`);
  writeFileSync(join(to, 'standby.signal'), '');
  const { uid, gid } = statSync(to);
  chownSync(join(to, 'standby.signal'), uid, gid);
}

/** What pg_basebackup does, which not every installation of PostgreSQL has: files are copied between two statements. */
async function copyWhileInUse(address: string, data: string, base: string): Promise<void> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    await client.query("SELECT pg_backup_start('base', fast => true)");
    await copy(data, base);
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop()');
    for (const name of ['postmaster.pid', 'postmaster.opts', 'pg_wal', 'pg_replslot']) {
      rmSync(join(base, name), { recursive: true, force: true });
    }
    const { uid, gid } = statSync(data);
    for (const name of ['pg_wal', 'pg_replslot']) {
      mkdirSync(join(base, name), { mode: 0o700 });
      chownSync(join(base, name), uid, gid);
    }
    writeFileSync(join(base, 'backup_label'), rows[0]?.labelfile ?? '');
    chownSync(join(base, 'backup_label'), uid, gid);
  } finally {
    await client.end();
  }
}

/** Files that are removed while they are copied are no matter: the log has what became of them. */
async function copy(from: string, to: string): Promise<void> {
  await runProgram('cp', ['-a', from, to], { cwd: '/' });
  if (!existsSync(join(to, 'PG_VERSION'))) throw new Error(`${from} was not copied to ${to}`);
}

async function ask<Row extends pg.QueryResultRow>(address: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
