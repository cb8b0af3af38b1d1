export {
  findMemberLevel,
  type OperatorActivity,
  organizationOfEnvironment,
  organizationOfProject,
  recordOperatorActivity,
} from './activity/operator-activity.ts';
export type { AccountClient } from './input/account-client.ts';
export { type AcceptedInvite, acceptInvite, findInvite } from './invites/accept-invite.ts';
export { createFirstKey } from './invites/create-first-key.ts';
export {
  hashInviteToken,
  inviteExpiresAt,
  isInviteExpired,
  newInviteToken,
} from './invites/invite-validity.ts';
export { listInvites, revokeInvite } from './invites/invites.ts';
export {
  hashPersonalApiKey,
  newProjectToken,
} from './keys/key-values.ts';
export {
  createPersonalApiKey,
  getPersonalApiKey,
  listPersonalApiKeys,
  type NewPersonalApiKey,
  type PersonalApiKeyChanges,
  type PersonalApiKeyChoice,
  type PersonalApiKeyWithValue,
  revokePersonalApiKey,
  rollPersonalApiKey,
  updatePersonalApiKey,
} from './keys/personal-api-keys.ts';
export { findMemberDomains } from './members/member-domain-store.ts';
export { addMember, listMembers, type NewMember, removeMember, setMemberLevel } from './members/members.ts';
export { type WithdrawnInvite, withdrawInvites } from './members/withdraw-invites-store.ts';
export { type LockedOrganization, lockOrganization } from './organizations/lock-organization-store.ts';
export { takeMails } from './organizations/mail-allowance-store.ts';
export {
  createOrganization,
  getOrganization,
  listOrganizations,
  type NewOrganization,
  setOrganizationPlan,
} from './organizations/organizations.ts';
export { defaultAccountFilters } from './projects/default-account-filters.ts';
export type { NewEnvironmentSettings } from './projects/environment-settings.ts';
export { createEnvironment, listEnvironments, type NewEnvironment } from './projects/environments.ts';
export { createProject, listProjects, type NewProject } from './projects/projects.ts';
export { isTimeZone } from './projects/time-zone.ts';
export {
  addRestriction,
  listRestrictions,
  type NewRestriction,
  removeRestriction,
} from './restrictions/restrictions.ts';
export { createUser, getUser, listUsers, type NewUser, setUserActive } from './users/users.ts';
