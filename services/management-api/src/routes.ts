import type { LookUpChallenge } from '@millrace/accounts';
import type { Database } from '@millrace/db';
import type { Route } from '@millrace/http';
import type { Addresses } from '@millrace/insights/report';
import type { Logger } from '@millrace/runtime';
import type { Caller } from './access/caller.ts';
import type { RateLimit, SignUpLimit } from './access/rate-limit.ts';
import type { Searches } from './access/searches.ts';
import type { Live } from './live/live.ts';
import { liveRoutes } from './live/routes.ts';
import { organizationActivityRoute } from './resources/activity/organization-routes.ts';
import { projectActivityRoutes } from './resources/activity/project-routes.ts';
import { annotationRoutes } from './resources/annotations/routes.ts';
import type { DestinationSecrets } from './resources/batch-exports/destinations.ts';
import { batchExportRoutes } from './resources/batch-exports/routes.ts';
import { personCohortsRoute } from './resources/cohorts/person-cohorts.ts';
import { cohortRoutes } from './resources/cohorts/routes.ts';
import { acceptWithoutEffect } from './resources/compatibility/without-effect.ts';
import { dashboardRoutes } from './resources/dashboards/routes.ts';
import type { DeadLetterLog } from './resources/dead-letters/letters.ts';
import { deadLetterRoutes } from './resources/dead-letters/routes.ts';
import { propertyDefinitionRoutes } from './resources/definitions/property-routes.ts';
import { eventDefinitionRoutes } from './resources/definitions/routes.ts';
import { domainRoutes, domainWriteRoutes, verifyDomainRoute } from './resources/domains/routes.ts';
import { earlyAccessFeatureRoutes } from './resources/early-access-features/routes.ts';
import { environmentRoutes, eventRetentionRoutes } from './resources/environments/routes.ts';
import { eventCountRoutes } from './resources/events/counts.ts';
import type { OtherStore } from './resources/events/other-store.ts';
import { eventItemRoute, eventRoutes } from './resources/events/routes.ts';
import { organizationFlagRoutes } from './resources/feature-flags/organization-routes.ts';
import type { PayloadSecrets } from './resources/feature-flags/payloads.ts';
import { featureFlagRoutes } from './resources/feature-flags/routes.ts';
import { relatedActorsRoute } from './resources/groups/related.ts';
import { findGroupRoute, groupMemberRoutes, groupRoutes } from './resources/groups/routes.ts';
import { groupTypeRoutes } from './resources/groups/type-routes.ts';
import { groupWriteRoutes } from './resources/groups/write-routes.ts';
import { healthOfProjectRoutes } from './resources/health/routes.ts';
import { ingestionWarningRoutes } from './resources/ingestion-warnings/routes.ts';
import { insightRoutes } from './resources/insights/routes.ts';
import type { InviteMailing } from './resources/invites/mailing.ts';
import { acceptInviteRoutes, inviteRoutes } from './resources/invites/routes.ts';
import { memberRoutes } from './resources/members/routes.ts';
import { organizationRoutes, organizationWriteRoutes } from './resources/organizations/routes.ts';
import { personalApiKeyRoutes } from './resources/personal-api-keys/routes.ts';
import { deletePersonRoutes } from './resources/persons/deletion.ts';
import { personMergeRoute } from './resources/persons/merges.ts';
import { personPropertyRoutes } from './resources/persons/property-routes.ts';
import { personActivityRoutes, personItemRoutes, personRoutes } from './resources/persons/routes.ts';
import { splitPersonRoutes } from './resources/persons/split.ts';
import { projectRoutes } from './resources/projects/routes.ts';
import { propertyValueRoutes } from './resources/property-values/routes.ts';
import type { Questions } from './resources/query/questions.ts';
import { queryRoutes } from './resources/query/routes.ts';
import { recordRuleRoutes } from './resources/record-rules/routes.ts';
import { roleRoutes } from './resources/roles/routes.ts';
import { schemaRoutes } from './resources/schema/routes.ts';
import { scimRoutes } from './resources/scim/routes.ts';
import { resetRoutes } from './resources/sign-in/reset-routes.ts';
import { signInRoutes } from './resources/sign-in/routes.ts';
import { secondFactorRoutes } from './resources/sign-in/second-factor-routes.ts';
import { secondStepRoutes } from './resources/sign-in/second-step-routes.ts';
import { sessionRoutes } from './resources/sign-in/session-routes.ts';
import type { SingleSignOnDeps } from './resources/single-sign-on/flow.ts';
import { singleSignOnRoutes, ticketRoutes } from './resources/single-sign-on/routes.ts';
import { subscriptionRoutes } from './resources/subscriptions/routes.ts';
import { testEventRoutes } from './resources/test-event/routes.ts';
import { userRoutes } from './resources/users/routes.ts';
import { createLargePages } from './sql/large-page.ts';

export interface RouteDeps extends Pick<Database, 'sql' | 'transaction'>, SingleSignOnDeps {
  /** Whether people may sign in (`CONSOLE`). */
  withSignIn: boolean;
  lookUpChallenge: LookUpChallenge;
  inviteMailing: InviteMailing;
  destinationSecrets: DestinationSecrets;
  payloadSecrets: PayloadSecrets;
  searches: Searches;
  questions: Questions;
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
