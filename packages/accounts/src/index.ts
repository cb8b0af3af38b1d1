export { hasProvider, hasSecondFactor } from './access/live-session-store.ts';
export type { ActivityDetail } from './activity/activity-store.ts';
export type { FieldChange } from './activity/changed-fields.ts';
export {
  type Activity,
  type ActivityScope,
  type Actor,
  recordActivity,
  recordOwnActivity,
} from './activity/record-activity.ts';
export { createOwnedOrganization } from './create-owned-organization.ts';
export { type ChallengeCheck, createChallengeLookup, type LookUpChallenge } from './domains/challenge.ts';
export { disableEnforcement } from './domains/enforcement-off.ts';
export { mailAdministrators } from './domains/mail-administrators.ts';
export { hasOwnerAddress } from './domains/owner-addresses.ts';
export { readSamlCertificates, splitSamlCertificates } from './domains/saml-certificates.ts';
export { checkName, isEmail, isRowId, parseEmailAddress } from './input.ts';
export {
  type AcceptedInvite,
  acceptInvite,
  findInvite,
  restrictUnverifiedAccount,
  signUpByInvite,
} from './invites/accept-invite.ts';
export { createInvites, type Inviter, type NewInvite, type ProjectGrant } from './invites/create-invites.ts';
export { recordEmailingAttempt } from './invites/invite-store.ts';
export {
  findInviteSecretKind,
  getInviteExpiry,
  type InviteSecretKind,
  isInviteExpired,
  listInvites,
  revokeInvite,
} from './invites/invites.ts';
export { hashPersonalApiKey } from './keys/key-values.ts';
export { lockUserKeys, type PersonalApiKey } from './keys/personal-api-key-store.ts';
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
export { blockAddress, listBlockedAddresses, unblockAddress } from './members/blocked-addresses.ts';
export { requireMayEditMember } from './members/member-rules.ts';
export { findMember as findMembership } from './members/member-store.ts';
export { addMember, listMembers, removeMember, setMemberLevel, withdrawInvites } from './members/members.ts';
export {
  type LockedOrganization,
  lockOrganization,
  type Organization,
  reserveEmailQuota,
} from './organizations/organization-store.ts';
export {
  changeOrganization,
  createOrganization,
  getOrganization,
  listOrganizations,
  removeOrganization,
  setOrganizationPlan,
} from './organizations/organizations.ts';
export {
  type AccessLevel,
  type AccessRuleSubject,
  accessLevels,
  changeEnvironmentAccessRule,
  changeRecordRule,
  type RecordAccessLevel,
  recordAccessLevels,
} from './projects/access-rules.ts';
export {
  changeEnvironment,
  changeProject,
  requireLevelForSettings,
  resetProjectToken,
} from './projects/change-environment.ts';
export { createEnvironment, createProject } from './projects/create-project.ts';
export {
  lockEnvironment,
  type StoredEnvironment,
  updateEnvironment,
} from './projects/environment-store.ts';
export { requireNoPlanLimit, requirePlanCapacity } from './projects/plan-limits.ts';
export type { ProjectSecretKey } from './projects/project-secret-key-store.ts';
export {
  createProjectSecretKey,
  listProjectSecretKeys,
  type RolledSecretKey,
  revokeProjectSecretKeys,
  rollProjectSecretKey,
} from './projects/project-secret-keys.ts';
export { countEnvironments, countProjects, isDemoEnvironment } from './projects/project-store.ts';
export {
  getEnvironment,
  getOrganizationOfEnvironment,
  getProject,
  listEnvironments,
  listProjects,
} from './projects/projects.ts';
export { removeEnvironment, removeProject } from './projects/remove-environment.ts';
export { type SettingField, settingFields } from './projects/setting-fields.ts';
export { addRestriction, listRestrictions, removeRestriction } from './restrictions/restrictions.ts';
export { assignRole, createRole, findRole, type Role, removeRole, renameRole, unassignRole } from './roles/roles.ts';
export {
  changeProvisionedUser,
  changeRoleMembers,
  findScimUser,
  listRoleHoldersInDomain,
  listScimUsers,
  provisionUser,
  removeProvisionedUser,
  requireRoleWithinDomain,
  type ScimDomain,
  type ScimUser,
  type ScimUserFields,
  type ScimUserFilter,
} from './scim/provisioning.ts';
export { changePassword } from './sign-in/change-password.ts';
export { createKnownDevice, deviceDays, isKnownDevice, renewKnownDevice } from './sign-in/known-devices.ts';
export { consumeOneTimeLink, createOneTimeLink, findOneTimeLink } from './sign-in/one-time-links.ts';
export {
  deletePasskey,
  findPasskey,
  insertPasskey,
  listPasskeys,
  type Passkey,
  recordPasskeyUse,
  renamePasskey,
  setPasskeysAsSecondFactor,
} from './sign-in/passkeys.ts';
export { createPasswords, type PasswordOptions, type Passwords } from './sign-in/passwords.ts';
export {
  type AddressDomain,
  clientSecretEncryptionContext,
  deleteDomainIdentities,
  findAddressDomain,
  hasIdentity,
  hasProofInTime,
  isProofInTime,
  markAssertionUsed,
  type ProviderKind,
  providerKinds,
} from './sign-in/provider-store.ts';
export {
  consumeBackupCode,
  consumeTotpStep,
  findSecondFactors,
  findTotpSecret,
  isTrustedDevice,
  removeBackupCodes,
  removeTotp,
  renewBackupCodes,
  requiresSecondFactor,
  revokeTrustedDevices,
  storeTotpSecret,
  totpEncryptionContext,
  trustDevice,
} from './sign-in/second-factors.ts';
export {
  beginSession,
  endSession,
  endUserSession,
  endUserSessions,
  type NewSession,
  recordSecondFactor,
  renewSessionSecret,
  type SecondFactor,
  sessionDays,
  signOut,
} from './sign-in/sessions.ts';
export {
  beginSignInStep,
  consumeSignInStep,
  countSignInStepAttempt,
  findSignInStep,
  updateSignInStep,
} from './sign-in/sign-in-steps.ts';
export {
  findSignInUser,
  hasSignedIn,
  replacePasswordHash,
  type SignInUser,
  selectSessions,
} from './sign-in/sign-in-store.ts';
export {
  findEnforcement,
  getEnforcedProvider,
  type InstalledProviders,
  parseEmailDomain,
} from './single-sign-on/enforcement.ts';
export {
  findConfirmationRefusal,
  isProviderSubject,
  type ProviderProfile,
  type ProviderSignIn,
  type ProviderSignInRefusal,
  signInThroughProvider,
} from './single-sign-on/provider-sign-in.ts';
export { findUser, setCurrentEnvironment, type User, type UserFields } from './users/user-store.ts';
export {
  changeEmail,
  changeUserFields,
  createUser,
  getUser,
  listUsers,
  type NewUser,
  removeUser,
  setUserActive,
} from './users/users.ts';
