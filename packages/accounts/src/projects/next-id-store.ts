import type { AccountClient } from '../input/account-client.ts';

/** The next id of the space that projects and environments share. */
export async function nextProjectOrEnvironmentId(client: AccountClient): Promise<number> {
  const rows = await client.$queryRaw<{ id: number }[]>`SELECT nextval('project_and_environment_id')::int AS id`;
  const id = rows[0]?.id;
  if (id === undefined) throw new Error('The sequence project_and_environment_id gave no value.');
  return id;
}
