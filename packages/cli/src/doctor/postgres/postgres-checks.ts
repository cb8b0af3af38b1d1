import type { Database } from '@millrace/db';
import type { DoctorSettings } from '../doctor-settings.ts';
import type { Check } from '../run-checks.ts';
import { checkCleaning } from './check-cleaning.ts';
import { checkClock } from './check-clock.ts';
import { checkConnections } from './check-connections.ts';
import { checkDurability } from './check-durability.ts';
import { checkFlags } from './check-flags.ts';
import { checkMigrations } from './check-migrations.ts';
import { checkNotifications } from './check-notifications.ts';
import { checkOpenTransactions } from './check-open-transactions.ts';
import { checkPrivileges } from './check-privileges.ts';
import { checkReplication } from './check-replication.ts';
import { checkStorage } from './check-storage.ts';
import { checkStoredSecrets } from './check-stored-secrets.ts';
import { checkVersion } from './check-version.ts';

interface PostgresContext {
  settings: DoctorSettings;
  /** The folder with the migrations of this version. */
  prismaDirectory: string;
}

/** All that is asked of PostgreSQL, in the order in which it is read. */
export function postgresChecks(
  database: Pick<Database, 'sql' | 'listen'>,
  { settings, prismaDirectory }: PostgresContext,
): Check[] {
  const { sql } = database;
  return [
    { name: 'postgresql server', look: () => checkVersion(sql) },
    { name: 'postgresql migrations', look: () => checkMigrations(sql, prismaDirectory) },
    { name: 'postgresql privileges', look: () => checkPrivileges(sql) },
    { name: 'postgresql connections', look: () => checkConnections(sql, settings) },
    { name: 'postgresql transactions', look: () => checkOpenTransactions(sql) },
    { name: 'postgresql notifications', look: () => checkNotifications(database) },
    { name: 'postgresql durability', look: () => checkDurability(sql) },
    { name: 'postgresql replication', look: () => checkReplication(sql) },
    { name: 'postgresql storage', look: () => checkStorage(sql) },
    { name: 'postgresql cleaning', look: () => checkCleaning(sql) },
    { name: 'clock', look: () => checkClock(sql) },
    { name: 'secrets', look: () => checkStoredSecrets(sql, settings) },
    { name: 'flags', look: () => checkFlags(sql) },
  ];
}
