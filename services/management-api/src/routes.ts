import type { Database } from '@millrace/db';
import type { Route } from '@millrace/http';
import type { KeyChanges } from './access/announce-key-change.ts';
import { belowEnvironmentsToo } from './access/below-environments-too.ts';
import type { Caller } from './access/caller.ts';
import type { RateLimit } from './access/rate-limit.ts';
import type { SignUpLimit } from './access/sign-up-limit.ts';
import { batchExportRoutes } from './resources/batch-exports/batch-export-routes.ts';
import type { DestinationSecrets } from './resources/batch-exports/destination-secrets.ts';
import { cohortRoutes } from './resources/cohorts/cohort-routes.ts';
import { eventDefinitionRoutes } from './resources/definitions/event-definition-routes.ts';
import { propertyDefinitionRoutes } from './resources/definitions/property-definition-routes.ts';
import { domainRoutes } from './resources/domains/domain-routes.ts';
import { domainWriteRoutes } from './resources/domains/domain-write-routes.ts';
import type { LookUpChallenge } from './resources/domains/look-up-challenge.ts';
import { verifyDomainRoute } from './resources/domains/verify-domain-route.ts';
import { earlyAccessFeatureRoutes } from './resources/early-access-features/feature-routes.ts';
import { environmentRoutes } from './resources/environments/environment-routes.ts';
import { eventRetentionRoutes } from './resources/environments/event-retention-routes.ts';
import { eventItemRoute } from './resources/events/event-item-route.ts';
import { eventRoutes } from './resources/events/event-routes.ts';
import { featureFlagRoutes } from './resources/feature-flags/feature-flag-routes.ts';
import { organizationFlagRoutes } from './resources/feature-flags/organization-flag-routes.ts';
import type { PayloadSecrets } from './resources/feature-flags/payload-secrets.ts';
import { findGroupRoute } from './resources/groups/find-group-route.ts';
import { groupRoutes } from './resources/groups/group-routes.ts';
import { ingestionWarningRoutes } from './resources/ingestion-warnings/ingestion-warning-routes.ts';
import { acceptInviteRoutes } from './resources/invites/accept-invite-routes.ts';
import type { InviteMailing } from './resources/invites/invite-mailing.ts';
import { inviteRoutes } from './resources/invites/invite-routes.ts';
import { memberRoutes } from './resources/members/member-routes.ts';
import { organizationRoutes } from './resources/organizations/organization-routes.ts';
import { organizationWriteRoutes } from './resources/organizations/organization-write-routes.ts';
import { personalApiKeyRoutes } from './resources/personal-api-keys/personal-api-key-routes.ts';
import { deletePersonRoutes } from './resources/persons/delete-person-routes.ts';
import { personActivityRoutes } from './resources/persons/person-activity-routes.ts';
import { personItemRoutes } from './resources/persons/person-item-routes.ts';
import { personRoutes } from './resources/persons/person-routes.ts';
import { projectRoutes } from './resources/projects/project-routes.ts';
import { schemaRoutes } from './resources/schema/schema-routes.ts';
import { subscriptionRoutes } from './resources/subscriptions/subscription-routes.ts';
import { userRoutes } from './resources/users/user-routes.ts';
import { createPageShares } from './sql/page-shares.ts';

export interface RouteDeps extends Pick<Database, 'sql' | 'transaction'> {
  lookUpChallenge: LookUpChallenge;
  inviteMailing: InviteMailing;
  destinationSecrets: DestinationSecrets;
  payloadSecrets: PayloadSecrets;
  /** To be called after the commit. */
  announceKeyChange: KeyChanges['announce'];
  /** Of one organization; 0 = no limit. */
  maxSubscriptions: number;
  /** Of who asks for invites without a key. */
  signUpLimit: SignUpLimit;
  /** Of changes a person makes to their own account, by user. */
  userChangeLimit: RateLimit;
  /** What signs, at the moment, what the API hands out for other services to check (`live_events_token`). */
  tokenSecret: () => string;
}

/** Every route of the management API. */
export function routes(deps: RouteDeps): Route<Caller>[] {
  const ingested = { sql: deps.sql, pageShares: createPageShares() };
  const resources = [
    ...organizationRoutes(deps),
    ...organizationWriteRoutes(deps),
    ...domainRoutes(deps),
    ...domainWriteRoutes(deps),
    verifyDomainRoute(deps),
    ...inviteRoutes(deps),
    ...acceptInviteRoutes(deps),
    ...memberRoutes(deps),
    ...projectRoutes(deps),
    ...environmentRoutes(deps),
    ...userRoutes(deps),
    ...personalApiKeyRoutes(deps),
    ...subscriptionRoutes(deps),
    ...batchExportRoutes(deps),
    ...organizationFlagRoutes(deps),
    ...belowEnvironmentsToo([
      ...eventRoutes(ingested),
      eventItemRoute(deps),
      ...personRoutes(ingested),
      ...personActivityRoutes(deps),
      ...deletePersonRoutes(deps),
      ...personItemRoutes(deps),
      ...cohortRoutes(deps),
      ...groupRoutes(ingested),
      findGroupRoute(deps),
      ...eventDefinitionRoutes(deps),
      ...propertyDefinitionRoutes(deps),
      ...eventRetentionRoutes(deps),
      ...ingestionWarningRoutes(ingested),
      ...featureFlagRoutes(deps),
      ...earlyAccessFeatureRoutes(deps),
    ]),
  ];
  return [...resources, ...schemaRoutes(resources)];
}
