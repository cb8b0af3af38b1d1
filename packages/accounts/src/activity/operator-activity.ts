import type { Prisma } from '@millrace/db';
import { v7 as uuidv7 } from 'uuid';
import type { AccountClient } from '../input/account-client.ts';
import { notFound } from '../input/account-errors.ts';

/** Something an operator did by the command line, in the history the management API keeps and shows. */
export interface OperatorActivity {
  /** The command, like `member set-level`. */
  command: string;
  /** The organization in whose history it stands; null for what belongs to a person or the installation. */
  organizationId: string | null;
  /** Only for what belongs to one environment. */
  environmentId?: number;
  /** Kind of the record, as in the histories of the management API; an environment is a `Team`. */
  scope: string;
  itemId: string | number;
  activity: 'created' | 'updated' | 'deleted';
  /** What a person calls it; never a key. */
  name: string;
  /** For `updated`: the values on both sides. Fields that are the same are left out; never a secret. */
  fields?: Record<string, { before: Prisma.InputJsonValue; after: Prisma.InputJsonValue }>;
}

/**
 * Writes down what an operator did, in the transaction that does it. There is no person behind it whom we know, so the
 * record has no user and says where it came from. An update that changed nothing leaves no record.
 */
export async function recordOperatorActivity(client: AccountClient, done: OperatorActivity): Promise<void> {
  const changes = done.fields === undefined ? null : changesOf(done.scope, done.fields);
  if (changes?.length === 0) return;
  const trigger = { job_type: 'command_line', job_id: done.command, payload: {} };
  await client.activity_log.create({
    data: {
      id: uuidv7(),
      organization_id: done.organizationId,
      environment_id: done.environmentId ?? null,
      user_id: null,
      scope: done.scope,
      item_id: String(done.itemId),
      activity: done.activity,
      detail: { name: done.name, short_id: null, type: null, trigger, changes },
    },
  });
}

function changesOf(type: string, fields: NonNullable<OperatorActivity['fields']>) {
  return Object.entries(fields)
    .filter(([, { before, after }]) => JSON.stringify(before) !== JSON.stringify(after))
    .map(([field, { before, after }]) => ({ type, action: 'changed', field, before, after }));
}

/** A member's level before it is changed; null for who is no member. */
export async function findMemberLevel(
  client: AccountClient,
  { organizationId, userId }: { organizationId: string; userId: number },
): Promise<number | null> {
  const found = await client.membership.findFirst({ where: { organization_id: organizationId, user_id: userId } });
  return found?.level ?? null;
}

/** The organization a project belongs to. @throws Error when there is no such project. */
export async function organizationOfProject(client: AccountClient, projectId: number): Promise<string> {
  const { organization_id } = await client.project.findUniqueOrThrow({ where: { id: projectId } });
  return organization_id;
}

/** The organization an environment belongs to. @throws AppError `not_found`. */
export async function organizationOfEnvironment(client: AccountClient, environmentId: number): Promise<string> {
  const found = await client.environment.findUnique({ where: { id: environmentId }, include: { project: true } });
  if (found === null) throw notFound('Environment');
  return found.project.organization_id;
}
