// SQL that finds the organization, project or environment in a request path.

import {
  effectiveLevel,
  environmentsOfCaller,
  type FoundEnvironment,
  foundEnvironmentColumns,
} from '@millrace/accounts/access';
import type { Sql } from '@millrace/db';
import type { RecordRights } from './record-rights.ts';

/** The environment in a request path. A project's ID is the ID of its first environment. */
export interface AddressedProject {
  environmentId: number;
  projectId: number;
  organizationId: string;
  /** The caller's level in the environment: 1 (member), 8 (administrator) or 15 (owner). */
  level: number;
  rights: RecordRights;
}

export async function organizationExists(sql: Sql, organizationId: string): Promise<boolean> {
  const rows = await sql.query('SELECT 1 FROM organization WHERE id = $1', [organizationId]);
  return rows.length > 0;
}

export async function findFirstEnvironment(
  sql: Sql,
  userId: number,
  projectId: number,
): Promise<FoundEnvironment | undefined> {
  const rows = await sql.query<FoundEnvironment & Record<string, unknown>>(
    `SELECT ${foundEnvironmentColumns} FROM ${environmentsOfCaller} WHERE e.project_id = $2 ORDER BY e.id LIMIT 1`,
    [userId, projectId],
  );
  return rows[0];
}

/** Returns the environment with this project API key, if it belongs to one of the caller's organizations. */
export async function findEnvironmentByToken(
  sql: Sql,
  userId: number,
  token: string,
): Promise<FoundEnvironment | undefined> {
  const rows = await sql.query<FoundEnvironment & Record<string, unknown>>(
    `SELECT ${foundEnvironmentColumns} FROM ${environmentsOfCaller} WHERE e.api_token = $2`,
    [userId, token],
  );
  return rows[0];
}

/**
 * Returns the preferred environment if it belongs to one of these organizations. Otherwise, returns the oldest
 * accessible environment of the first organization that has one. If `only` is set, considers only these environments.
 */
export async function findCurrentOrFirstEnvironment(
  sql: Sql,
  { userId, organizationIds }: { userId: number; organizationIds: string[] },
  { only, preferred }: { only: number[] | null; preferred: number | null },
): Promise<FoundEnvironment | undefined> {
  const rows = await sql.query<FoundEnvironment & Record<string, unknown>>(
    `SELECT ${foundEnvironmentColumns} FROM ${environmentsOfCaller}
      WHERE p.organization_id = ANY ($2::uuid[]) AND ($3::int[] IS NULL OR e.id = ANY ($3::int[]))
      ORDER BY e.id = $4 DESC NULLS LAST, (${effectiveLevel}) IS NULL, array_position($2::uuid[], p.organization_id), e.id
      LIMIT 1`,
    [userId, organizationIds, only, preferred],
  );
  return rows[0];
}

export async function environmentExists(sql: Sql, environmentId: number): Promise<boolean> {
  const rows = await sql.query('SELECT 1 FROM environment WHERE id = $1', [environmentId]);
  return rows.length > 0;
}
