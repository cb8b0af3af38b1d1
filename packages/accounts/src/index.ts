export type { ActivityDetail } from './activity/activity-store.ts';
export type { FieldChange } from './activity/changed-fields.ts';
export { type Activity, type ActivityScope, type Actor, recordActivity } from './activity/record-activity.ts';
export { createOwnedOrganization } from './create-owned-organization.ts';
export { type AcceptedInvite, acceptInvite, findInvite } from './invites/accept-invite.ts';
export type { Inviter, NewInvite } from './invites/create-invite.ts';
export { createInvites } from './invites/create-invites.ts';
export { noteEmailingAttempt } from './invites/invite-store.ts';
export { hashInviteToken, inviteExpiresAt, isInviteExpired } from './invites/invite-validity.ts';
export { listInvites, revokeInvite } from './invites/invites.ts';
export type { ProjectGrant } from './invites/project-grants.ts';
export { signUpByInvite } from './invites/sign-up-by-invite.ts';
export { hashPersonalApiKey } from './keys/key-values.ts';
export { lockKeysOf, type PersonalApiKey } from './keys/personal-api-key-store.ts';
export {
  createPersonalApiKey,
  getPersonalApiKey,
  listPersonalApiKeys,
  type NewPersonalApiKey,
  type PersonalApiKeyWithValue,
  revokePersonalApiKey,
  rollPersonalApiKey,
  updatePersonalApiKey,
} from './keys/personal-api-keys.ts';
export { removeMember, setMemberLevel } from './members/change-member.ts';
export { refuseEditing } from './members/member-rules.ts';
export { addMember, listMembers } from './members/members.ts';
export { withdrawInvites } from './members/withdraw-invites.ts';
export { changeOrganization, removeOrganization } from './organizations/change-organization.ts';
export { type LockedOrganization, lockOrganization } from './organizations/lock-organization-store.ts';
export { takeMails } from './organizations/mail-allowance-store.ts';
export type { Organization } from './organizations/organization-store.ts';
export {
  createOrganization,
  getOrganization,
  listOrganizations,
  setOrganizationPlan,
} from './organizations/organizations.ts';
export { accessLevels, toAccessLevel } from './projects/access-level.ts';
export { changeAccessRule } from './projects/change-access-rule.ts';
export { changeEnvironment } from './projects/change-environment.ts';
export { changeProject } from './projects/change-project.ts';
export { createEnvironment } from './projects/create-environment.ts';
export { createProject } from './projects/create-project.ts';
export {
  lockEnvironment,
  type StoredEnvironment,
  updateEnvironment,
} from './projects/environment-store.ts';
export { countEnvironments, countProjects, findIsDemo } from './projects/plan-count-store.ts';
export { requireRoom, requireUncounted } from './projects/plan-limits.ts';
export type { ProjectSecretKey } from './projects/project-secret-key-store.ts';
export {
  createProjectSecretKey,
  listProjectSecretKeys,
  type RolledSecretKey,
  revokeProjectSecretKeys,
  rollProjectSecretKey,
} from './projects/project-secret-keys.ts';
export {
  getEnvironment,
  getProject,
  listEnvironments,
  listProjects,
  organizationOfEnvironment,
} from './projects/projects.ts';
export { removeEnvironment, removeProject } from './projects/remove-environment.ts';
export { resetToken } from './projects/reset-token.ts';
export { addRestriction, listRestrictions, removeRestriction } from './restrictions/restrictions.ts';
export { findUser, setCurrentEnvironment, type User, type UserFields, updateUser } from './users/user-store.ts';
export { createUser, getUser, listUsers, type NewUser, setUserActive } from './users/users.ts';
