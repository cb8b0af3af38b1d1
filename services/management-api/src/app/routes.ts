import type { LookUpChallenge } from '@millrace/accounts';
import type { Database } from '@millrace/db';
import type { Route } from '@millrace/http';
import type { SqlParser } from '@millrace/insights';
import type { Addresses } from '@millrace/insights/report';
import type { Logger } from '@millrace/runtime';
import type { Caller } from '../access/caller.ts';
import type { RateLimit, SignUpLimit } from '../access/rate-limit.ts';
import type { Searches } from '../access/searches.ts';
import { organizationActivityRoute } from '../activity/organization-routes.ts';
import { projectActivityRoutes } from '../activity/project-routes.ts';
import { annotationRoutes } from '../analytics/annotations/routes.ts';
import { personCohortsRoute } from '../analytics/cohorts/person-cohorts.ts';
import { cohortRoutes } from '../analytics/cohorts/routes.ts';
import { dashboardRoutes } from '../analytics/dashboards/routes.ts';
import { propertyDefinitionRoutes } from '../analytics/definitions/property-routes.ts';
import { eventDefinitionRoutes } from '../analytics/definitions/routes.ts';
import { eventCountRoutes } from '../analytics/events/counts.ts';
import type { OtherStore } from '../analytics/events/other-store.ts';
import { eventItemRoute, eventRoutes } from '../analytics/events/routes.ts';
import { relatedActorsRoute } from '../analytics/groups/related.ts';
import { findGroupRoute, groupMemberRoutes, groupRoutes } from '../analytics/groups/routes.ts';
import { groupTypeRoutes } from '../analytics/groups/type-routes.ts';
import { groupWriteRoutes } from '../analytics/groups/write-routes.ts';
import { insightRoutes } from '../analytics/insights/routes.ts';
import { deletePersonRoutes } from '../analytics/persons/deletion.ts';
import { personMergeRoute } from '../analytics/persons/merges.ts';
import { personPropertyRoutes } from '../analytics/persons/property-routes.ts';
import { personActivityRoutes, personItemRoutes, personRoutes } from '../analytics/persons/routes.ts';
import { splitPersonRoutes } from '../analytics/persons/split.ts';
import { propertyValueRoutes } from '../analytics/property-values/routes.ts';
import type { Questions } from '../analytics/query/questions.ts';
import { queryRoutes } from '../analytics/query/routes.ts';
import type { DestinationSecrets } from '../deliveries/batch-exports/destinations.ts';
import { batchExportRoutes } from '../deliveries/batch-exports/routes.ts';
import { subscriptionRoutes } from '../deliveries/subscriptions/routes.ts';
import { earlyAccessFeatureRoutes } from '../flags/early-access-features/routes.ts';
import { organizationFlagRoutes } from '../flags/feature-flags/organization-routes.ts';
import type { PayloadSecrets } from '../flags/feature-flags/payloads.ts';
import { featureFlagRoutes } from '../flags/feature-flags/routes.ts';
import { domainRoutes, domainWriteRoutes, verifyDomainRoute } from '../identity/domains/routes.ts';
import { environmentRoutes, eventRetentionRoutes } from '../identity/environments/routes.ts';
import type { InviteMailing } from '../identity/invites/mailing.ts';
import { acceptInviteRoutes, inviteRoutes } from '../identity/invites/routes.ts';
import { memberRoutes } from '../identity/members/routes.ts';
import { organizationRoutes, organizationWriteRoutes } from '../identity/organizations/routes.ts';
import { personalApiKeyRoutes } from '../identity/personal-api-keys/routes.ts';
import { projectRoutes } from '../identity/projects/routes.ts';
import { recordRuleRoutes } from '../identity/record-rules/routes.ts';
import { roleRoutes } from '../identity/roles/routes.ts';
import { scimRoutes } from '../identity/scim/routes.ts';
import { resetRoutes } from '../identity/sign-in/reset-routes.ts';
import { signInRoutes } from '../identity/sign-in/routes.ts';
import { secondFactorRoutes } from '../identity/sign-in/second-factor-routes.ts';
import { secondStepRoutes } from '../identity/sign-in/second-step-routes.ts';
import { sessionRoutes } from '../identity/sign-in/session-routes.ts';
import type { SingleSignOnDeps } from '../identity/single-sign-on/flow.ts';
import { singleSignOnRoutes, ticketRoutes } from '../identity/single-sign-on/routes.ts';
import { userRoutes } from '../identity/users/routes.ts';
import type { DeadLetterLog } from '../operations/dead-letters/letters.ts';
import { deadLetterRoutes } from '../operations/dead-letters/routes.ts';
import { ingestionWarningRoutes } from '../operations/ingestion-warnings/routes.ts';
import type { Live } from '../operations/live/live.ts';
import { liveRoutes } from '../operations/live/routes.ts';
import { testEventRoutes } from '../operations/test-event/routes.ts';
import { createLargePages } from '../sql/large-page.ts';
import { acceptWithoutEffect } from './compatibility/without-effect.ts';
import { healthOfProjectRoutes } from './health/routes.ts';
import { schemaRoutes } from './schema/routes.ts';

export interface RouteDeps extends Pick<Database, 'sql' | 'transaction'>, SingleSignOnDeps {
  /** Whether people may sign in (`CONSOLE`). */
  withSignIn: boolean;
  lookUpChallenge: LookUpChallenge;
  inviteMailing: InviteMailing;
  destinationSecrets: DestinationSecrets;
  payloadSecrets: PayloadSecrets;
  searches: Searches;
  questions: Questions;
  parser: SqlParser;
  /** Where events are; null: in PostgreSQL. */
  otherStore: OtherStore | null;
  logger: Logger;
  /** Where reports link to. */
  addresses: Addresses;
  /** Null where nobody has said which log it is. */
  deadLetters: DeadLetterLog | null;
  /** Address of a gateway; test events go there. */
  ingestUrl?: string | undefined;
  /** Of one organization; 0 = no limit. */
  maxSubscriptions: number;
  /** Of who asks for invites without a key. */
  signUpLimit: SignUpLimit;
  /** Of changes a person makes to their own account, by user. */
  userChangeLimit: RateLimit;
  /** What signs `live_events_token` at the moment, and what has signed it. */
  tokenSecrets: () => readonly [string, ...string[]];
  live: Live;
}

/** Signing in, and what a person who is signed in does with it. */
const entryRoutes = (deps: RouteDeps) => [
  ...signInRoutes(deps),
  ...secondStepRoutes(deps),
  ...resetRoutes(deps),
  ...sessionRoutes(deps),
  ...secondFactorRoutes(deps),
  ...ticketRoutes(deps),
];

/** Every route of the management API. */
export function routes(deps: RouteDeps): Route<Caller>[] {
  const { sql, searches, otherStore } = deps;
  const ingested = { sql, searches, otherStore, pages: createLargePages() };
  const resources = acceptWithoutEffect([
    ...organizationRoutes(deps),
    ...organizationWriteRoutes(deps),
    organizationActivityRoute(ingested),
    ...projectActivityRoutes(ingested),
    ...domainRoutes(deps),
    ...domainWriteRoutes(deps),
    verifyDomainRoute(deps),
    ...singleSignOnRoutes(deps),
    ...scimRoutes(deps),
    ...inviteRoutes(deps),
    ...acceptInviteRoutes(deps),
    ...memberRoutes(deps),
    ...roleRoutes(deps),
    ...projectRoutes(deps),
    ...environmentRoutes(deps),
    ...recordRuleRoutes(deps),
    ...userRoutes(deps),
    ...(deps.withSignIn ? entryRoutes(deps) : []),
    ...personalApiKeyRoutes(deps),
    ...subscriptionRoutes(deps),
    ...batchExportRoutes(deps),
    ...organizationFlagRoutes(deps),
    ...eventRoutes(ingested),
    ...eventCountRoutes(deps),
    ...propertyValueRoutes(deps),
    ...queryRoutes(deps),
    ...eventItemRoute(deps),
    ...testEventRoutes(deps),
    ...personRoutes(ingested),
    ...personActivityRoutes(deps),
    ...personPropertyRoutes(deps),
    ...personMergeRoute(ingested),
    ...splitPersonRoutes(deps),
    ...personCohortsRoute(deps),
    ...deletePersonRoutes(deps),
    ...personItemRoutes(deps),
    ...cohortRoutes(deps),
    ...groupTypeRoutes(deps),
    ...groupRoutes(ingested),
    ...findGroupRoute(deps),
    ...groupMemberRoutes(ingested),
    ...relatedActorsRoute(deps),
    ...groupWriteRoutes(deps),
    ...eventDefinitionRoutes(deps),
    ...propertyDefinitionRoutes(deps),
    ...eventRetentionRoutes(deps),
    ...ingestionWarningRoutes(ingested),
    ...deadLetterRoutes(deps),
    ...featureFlagRoutes(deps),
    ...earlyAccessFeatureRoutes(deps),
    ...insightRoutes(deps),
    ...dashboardRoutes(deps),
    ...annotationRoutes(deps),
    ...liveRoutes(deps),
    ...healthOfProjectRoutes(deps),
  ]);
  return [...resources, ...schemaRoutes(resources)];
}
