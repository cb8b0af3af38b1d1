// The database role for SQL that users write. It is a second safeguard: even if Millrace built a wrong statement, that
// statement could not read accounts or keys. A role belongs to the server, so all databases of a server share it.

import type pg from 'pg';

export const sqlRole = 'millrace_sql';

/**
 * Creates the role, allows it to read the tables that users can query, and allows the current user to switch to it. If
 * the current user cannot create roles, does nothing, and user SQL runs with the current user's role.
 */
export async function createSqlRole(client: Pick<pg.Client, 'query'>): Promise<void> {
  await client.query(`DO $$ BEGIN
    IF to_regclass('"event"') IS NULL THEN RETURN; END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${sqlRole}') THEN
      BEGIN
        CREATE ROLE ${sqlRole} NOLOGIN;
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        -- Another database of this server was migrated at the same time.
      END;
    END IF;
    IF NOT pg_has_role(current_user, '${sqlRole}', 'SET') THEN
      EXECUTE format('GRANT ${sqlRole} TO %I', current_user);
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO ${sqlRole}', current_schema());
    GRANT SELECT ON "event", "person", "person_distinct_id", "group", "cohort_member" TO ${sqlRole};
  EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'the role ${sqlRole} was not created: permission denied';
  END $$`);
}

/** Whether the current user can switch to the role, and whether it can limit the size of temporary files. */
export interface UserSqlSafeguards {
  hasRole: boolean;
  canLimitFiles: boolean;
}

export const userSqlSafeguardsQuery = `SELECT
  coalesce((SELECT pg_has_role(current_user, oid, 'SET') AND has_table_privilege(oid, '"event"', 'SELECT')
              FROM pg_roles WHERE rolname = '${sqlRole}'), false) AS "hasRole",
  has_parameter_privilege('temp_file_limit', 'SET') AS "canLimitFiles"`;

/** The maximum size of the temporary files that one statement can use. */
const maxTemporaryFiles = '1GB';

/** Builds the statements that begin a read-only transaction, with the role and the limits that the server allows. */
export function buildUserSqlBegin({ hasRole, canLimitFiles }: UserSqlSafeguards): string {
  return [
    'BEGIN READ ONLY',
    'SET LOCAL max_parallel_workers_per_gather = 0',
    ...(canLimitFiles ? [`SET LOCAL temp_file_limit = '${maxTemporaryFiles}'`] : []),
    ...(hasRole ? [`SET LOCAL ROLE ${sqlRole}`] : []),
  ].join('; ');
}
