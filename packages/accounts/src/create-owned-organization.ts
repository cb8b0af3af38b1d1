import { membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { addMember } from './members/members.ts';
import type { Organization } from './organizations/organization-store.ts';
import { createOrganization, type NewOrganization } from './organizations/organizations.ts';
import { createProject, type NewProject } from './projects/create-project.ts';
import type { StoredEnvironment } from './projects/environment-store.ts';
import type { StoredProject } from './projects/project-store.ts';

/** Creates an organization with its owner and a first project, for the API, `millrace bootstrap` and the demo. */
export async function createOwnedOrganization(
  tx: Transaction,
  { ownerId, project, ...organization }: NewOrganization & { ownerId: number; project?: Pick<NewProject, 'settings'> },
): Promise<{ organization: Organization; project: StoredProject; environment: StoredEnvironment }> {
  const created = await createOrganization(tx, organization);
  // Add the owner before the project, because the project's filters are derived from the members' email addresses.
  await addMember(tx, { organizationId: created.id, userId: ownerId, level: membershipLevels.owner });
  const { actor } = organization;
  return { organization: created, ...(await createProject(tx, { organizationId: created.id, actor, ...project })) };
}
