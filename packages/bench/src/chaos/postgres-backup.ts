// Backs up a PostgreSQL server with its write-ahead log, and restores it.

import { appendFileSync, chownSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runProgram } from '@millrace/stack/run-program';
import { eventually } from '@millrace/testing';
import pg from 'pg';

export type PostgresBackup = Awaited<ReturnType<typeof startArchiving>>;

/** PostgreSQL archives a WAL segment after this time even if the segment is not full. */
const archiveTimeoutSeconds = 60;

/** Archives a PostgreSQL server's WAL, so that the server can be restored as described in docs/operations/backup.md. */
export async function startArchiving(address: string) {
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
  // Rename the file only after the copy, so that an interrupted copy does not look like a complete segment.
  const archiveCommand = `test ! -f "${archive}/%f" && cp "%p" "${archive}/part" && mv "${archive}/part" "${archive}/%f"`;
  await ask(address, `ALTER SYSTEM SET archive_command = '${archiveCommand}'`);
  await ask(address, `ALTER SYSTEM SET archive_timeout = ${archiveTimeoutSeconds}`);
  await ask(address, 'SELECT pg_reload_conf()');

  return {
    /** Copies the data directory while the server is running. */
    async takeBase(): Promise<void> {
      rmSync(base, { recursive: true, force: true });
      await copyWhileInUse(address, data, base);
    },
    /** Waits until the archive contains all earlier commits. */
    async archiveAll(): Promise<void> {
      const [last] = await ask<{ segment: string }>(address, 'SELECT pg_walfile_name(pg_switch_wal()) AS segment');
      await eventually(() => existsSync(join(archive, last?.segment ?? '')), { what: 'The archived segment' });
    },
    /** Deletes the data directory. The server must be stopped. */
    destroy: () => rmSync(data, { recursive: true }),
    /**
     * Replaces the data directory with the base backup. On its next start, the server replays the archive up to the
     * given time. If the time is null, it replays the complete archive.
     */
    async putBack(until: Date | null): Promise<void> {
      await copy(base, data);
      const recovery = [`restore_command = 'cp "${archive}/%f" "%p"'`, `recovery_target_action = 'promote'`];
      // PostgreSQL does not accept the ISO 8601 format of `toISOString`.
      const target = until?.toISOString().replace('T', ' ').replace('Z', '+00');
      if (target !== undefined) recovery.push(`recovery_target_time = '${target}'`);
      appendFileSync(join(data, 'postgresql.auto.conf'), `${recovery.join('\n')}\n`);
      writeFileSync(join(data, 'recovery.signal'), '');
      chownSync(join(data, 'recovery.signal'), uid, gid);
    },
  };
}

/**
 * Copies the files between `pg_backup_start` and `pg_backup_stop`. pg_basebackup does the same, but not every
 * installation contains it.
 */
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

/**
 * Copies a file or directory. Ignores files that are deleted during the copy, because the WAL contains these changes.
 */
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
