export { type AcceptedInvite, acceptInvite, findInvite } from './accounts/accept-invite.ts';
export type { AccountClient } from './accounts/account-client.ts';
export { createFirstKey } from './accounts/create-first-key.ts';
export { defaultAccountFilters } from './accounts/default-account-filters.ts';
export type { NewEnvironmentSettings } from './accounts/environment-settings.ts';
export { createEnvironment, listEnvironments, type NewEnvironment } from './accounts/environments.ts';
export {
  hashInviteToken,
  inviteExpiresAt,
  isInviteExpired,
  newInviteToken,
} from './accounts/invite-validity.ts';
export { listInvites, revokeInvite } from './accounts/invites.ts';
export {
  hashPersonalApiKey,
  maskPersonalApiKey,
  newPersonalApiKeyValue,
  newProjectToken,
} from './accounts/key-values.ts';
export { type LockedOrganization, lockOrganization } from './accounts/lock-organization-store.ts';
export { takeMails } from './accounts/mail-allowance-store.ts';
export { findMemberDomains } from './accounts/member-domain-store.ts';
export { addMember, listMembers, type NewMember, removeMember, setMemberLevel } from './accounts/members.ts';
export {
  findMemberLevel,
  type OperatorActivity,
  organizationOfEnvironment,
  organizationOfProject,
  recordOperatorActivity,
} from './accounts/operator-activity.ts';
export {
  createOrganization,
  getOrganization,
  listOrganizations,
  type NewOrganization,
  setOrganizationPlan,
} from './accounts/organizations.ts';
export {
  createPersonalApiKey,
  getPersonalApiKey,
  listPersonalApiKeys,
  maxPersonalApiKeys,
  type NewPersonalApiKey,
  type PersonalApiKeyChanges,
  type PersonalApiKeyChoice,
  type PersonalApiKeyWithValue,
  revokePersonalApiKey,
  rollPersonalApiKey,
  updatePersonalApiKey,
} from './accounts/personal-api-keys.ts';
export { createProject, listProjects, type NewProject } from './accounts/projects.ts';
export { addRestriction, listRestrictions, type NewRestriction, removeRestriction } from './accounts/restrictions.ts';
export { sqlOf } from './accounts/sql-of.ts';
export { isTimeZone } from './accounts/time-zone.ts';
export { createUser, getUser, listUsers, type NewUser, setUserActive } from './accounts/users.ts';
export { type WithdrawnInvite, withdrawInvites } from './accounts/withdraw-invites-store.ts';
export { deleteExpiredSalts } from './cookieless-salts.ts';
export { type CopyRow, copyRows } from './copy-format.ts';
export { createDatabase, type Database } from './database.ts';
export {
  type DeadLetterDecision,
  type DeadLetterPosition,
  type DecidedDeadLetter,
  deadLetterName,
  decideDeadLetters,
  readDeadLetterDecisions,
} from './dead-letters/dead-letter-decisions.ts';
export { connectForeign, type ForeignConnection, type ForeignConnectionOptions } from './foreign-connection.ts';
export type { Prisma, PrismaClient } from './generated/client.ts';
export { migrate, schemaDrift } from './migrate.ts';
export { type DeletionProgress, deletePersons } from './persons/delete-persons.ts';
export { ownersOf } from './persons/delete-persons-store.ts';
export { findPerson, findPersonToDelete } from './persons/find-person.ts';
export { type ShownPerson, showPerson } from './persons/show-person.ts';
export { unprepared } from './prepared-statements.ts';
export { type ProjectChanges, watchProjectChanges } from './project-changes.ts';
export { sealingKeyIds } from './sealing-key-ids.ts';
export {
  type DatabaseOptions,
  type Sql,
  type SqlDatabase,
  type Transaction,
  waitForDatabase,
} from './sql-database.ts';
export { isTransientError } from './transient-error.ts';
export { isUniqueViolation } from './unique-violation.ts';
