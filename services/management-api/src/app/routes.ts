// Lists all routes of the management API.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LookUpChallenge } from '@millrace/accounts';
import type { Database } from '@millrace/db';
import { createHealthPages, type PageRoute, type Route } from '@millrace/http';
import type { SqlParser } from '@millrace/insights';
import type { PublicUrls } from '@millrace/reports';
import type { Health } from '@millrace/runtime';
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
import type { TimeLimitedEventStore } from '../analytics/events/reads.ts';
import { eventItemRoute, eventRoutes } from '../analytics/events/routes.ts';
import { relatedActorsRoute } from '../analytics/groups/related.ts';
import { findGroupRoute, groupMemberRoutes, groupRoutes } from '../analytics/groups/routes.ts';
import { groupTypeRoutes } from '../analytics/groups/type-routes.ts';
import { groupWriteRoutes } from '../analytics/groups/write-routes.ts';
import { insightVariableRoutes } from '../analytics/insight-variables/routes.ts';
import { insightRoutes } from '../analytics/insights/routes.ts';
import { deletePersonRoutes } from '../analytics/persons/deletion.ts';
import { personMergesRoute } from '../analytics/persons/merges.ts';
import { personPropertyRoutes } from '../analytics/persons/property-routes.ts';
import { personActivityRoutes, personItemRoutes, personRoutes } from '../analytics/persons/routes.ts';
import { splitPersonRoutes } from '../analytics/persons/split.ts';
import { propertyValueRoutes } from '../analytics/property-values/routes.ts';
import type { QueryRunner } from '../analytics/query/query-runner.ts';
import { queryRoutes } from '../analytics/query/routes.ts';
import { createSharedPages } from '../analytics/sharing/page.ts';
import type { LinkLimits } from '../analytics/sharing/public-link.ts';
import { publicLinkRoutes } from '../analytics/sharing/public-routes.ts';
import { sharingRoutes } from '../analytics/sharing/routes.ts';
import type { DestinationSecrets } from '../deliveries/batch-exports/destinations.ts';
import { batchExportRoutes } from '../deliveries/batch-exports/routes.ts';
import { subscriptionRoutes } from '../deliveries/subscriptions/routes.ts';
import { earlyAccessFeatureRoutes } from '../flags/early-access-features/routes.ts';
import { organizationFlagRoutes } from '../flags/feature-flags/copies/organization-routes.ts';
import type { PayloadSecrets } from '../flags/feature-flags/payloads.ts';
import { featureFlagRoutes } from '../flags/feature-flags/routes.ts';
import { domainRoutes, domainWriteRoutes, verifyDomainRoute } from '../identity/domains/routes.ts';
import { eventRetentionRoutes } from '../identity/environments/retention-routes.ts';
import { environmentRoutes } from '../identity/environments/routes.ts';
import type { InviteMailing } from '../identity/invites/mailing.ts';
import { acceptInviteRoutes, inviteRoutes } from '../identity/invites/routes.ts';
import { memberRoutes } from '../identity/members/routes.ts';
import { organizationRoutes, organizationWriteRoutes } from '../identity/organizations/routes.ts';
import { personalApiKeyRoutes } from '../identity/personal-api-keys/routes.ts';
import { projectRoutes } from '../identity/projects/routes.ts';
import { recordRuleRoutes } from '../identity/record-rules/routes.ts';
import { roleRoutes } from '../identity/roles/routes.ts';
import { scimRoutes } from '../identity/scim/routes.ts';
import { createScimPage, type ScimDeps } from '../identity/scim/serve-scim.ts';
import { resetRoutes } from '../identity/sign-in/reset-routes.ts';
import { signInRoutes } from '../identity/sign-in/routes.ts';
import { secondFactorRoutes } from '../identity/sign-in/second-factor-routes.ts';
import { secondStepRoutes } from '../identity/sign-in/second-step-routes.ts';
import { sessionRoutes } from '../identity/sign-in/session-routes.ts';
import { createSignOnPages } from '../identity/single-sign-on/pages.ts';
import type { SingleSignOnDeps } from '../identity/single-sign-on/pending.ts';
import { singleSignOnRoutes, ticketRoutes } from '../identity/single-sign-on/routes.ts';
import { userRoutes } from '../identity/users/routes.ts';
import type { DeadLetterLog } from '../operations/dead-letters/read-dead-letters.ts';
import { deadLetterRoutes } from '../operations/dead-letters/routes.ts';
import { ingestionWarningRoutes } from '../operations/ingestion-warnings/routes.ts';
import type { Live } from '../operations/live/live.ts';
import { liveRoutes } from '../operations/live/routes.ts';
import { testEventRoutes } from '../operations/test-event/routes.ts';
import { createLargePages } from '../sql/large-page.ts';
import { acceptWithoutEffect } from './compatibility/without-effect.ts';
import { healthOfProjectRoutes } from './health/routes.ts';
import { createDocsPage, docsPath, schemaRoutes } from './schema/routes.ts';
import { createGatewayPages } from './sdk-requests/pass-to-gateway.ts';

export interface RouteDeps
  extends Pick<Database, 'sql' | 'transaction'>,
    SingleSignOnDeps,
    Pick<ScimDeps, 'logger' | 'metrics' | 'translateError'> {
  /** Whether users can sign in (environment variable `CONSOLE`). */
  withSignIn: boolean;
  lookUpChallenge: LookUpChallenge;
  inviteMailing: InviteMailing;
  destinationSecrets: DestinationSecrets;
  payloadSecrets: PayloadSecrets;
  searches: Searches;
  queryRunner: QueryRunner;
  parser: SqlParser;
  /** The event store. Null if events are stored in PostgreSQL. */
  externalEventStore: TimeLimitedEventStore | null;
  health: Health;
  addresses: PublicUrls;
  /** Null if `EVENT_LOG` is not set. */
  deadLetterLog: DeadLetterLog | null;
  /** URL of the gateway that Millrace sends test events to. */
  ingestUrl?: string | undefined;
  /** Maximum number of subscriptions per organization. 0 means no limit. */
  maxSubscriptions: number;
  signUpLimit: SignUpLimit;
  userChangeLimit: RateLimit;
  linkLimits: LinkLimits;
  /** Limits SCIM requests per token, and invalid and missing tokens per IP address. */
  scimLimits: Pick<ScimDeps, 'requestLimit' | 'guessLimit'>;
  /** The current secret for signing `live_events_token`, followed by older secrets. */
  tokenSecrets: () => readonly [string, ...string[]];
  live: Live;
  /** Origins whose pages can read live events with a token. By default, none. */
  liveOrigins?: readonly string[] | undefined;
  /** Null if the console is not served. */
  console?: PageRoute | null;
  /** The page for public links. Null if the page is not served. */
  sharedHtml?: Buffer | null;
  /**
   * Passes SDK requests to a gateway. If absent, the management API handles SDK requests like requests from scripts.
   */
  gateway?: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** Base URL for links. Defaults to the request's host. */
  publicUrl?: string | undefined;
}

const signInAndSessionRoutes = (deps: RouteDeps) => [
  ...signInRoutes(deps),
  ...secondStepRoutes(deps),
  ...resetRoutes(deps),
  ...sessionRoutes(deps),
  ...secondFactorRoutes(deps),
  ...ticketRoutes(deps),
];

/**
 * Creates all routes of the management API: those in the OpenAPI document, and the pages outside it. The order
 * determines the order in the document, but does not affect how requests are matched (packages/http).
 */
export function routes(deps: RouteDeps): { api: Route<Caller>[]; pages: PageRoute[] } {
  const api = apiRoutes(deps);
  const pages = [
    ...createHealthPages(deps.health),
    createDocsPage(api),
    createStartPage(deps),
    ...(deps.console ? [deps.console] : []),
    ...(deps.sharedHtml ? createSharedPages({ ...deps, html: deps.sharedHtml }) : []),
    ...(deps.withSignIn ? createSignOnPages(deps) : []),
    createScimPage({ ...deps, ...deps.scimLimits }),
    ...(deps.gateway ? createGatewayPages(deps.gateway) : []),
  ];
  return { api, pages };
}

/**
 * Creates a page route that redirects browsers from the API's base URL to the console. If no console is served, the
 * route redirects to the documentation.
 */
function createStartPage({ console, publicUrl }: RouteDeps): PageRoute {
  const location = (publicUrl?.replace(/\/+$/, '') ?? '') + (console ? '/console/' : docsPath);
  return {
    path: '/',
    methods: ['GET', 'HEAD'],
    accepts: ({ headers }) => headers.accept?.includes('text/html') === true,
    serve: ({ response }) => void response.writeHead(302, { location }).end(),
  };
}

function apiRoutes(deps: RouteDeps): Route<Caller>[] {
  const { sql, searches, externalEventStore } = deps;
  const ingested = { sql, searches, externalEventStore, pages: createLargePages() };
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
    ...(deps.withSignIn ? signInAndSessionRoutes(deps) : []),
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
    ...personMergesRoute(ingested),
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
    ...insightVariableRoutes(deps),
    ...dashboardRoutes(deps),
    ...annotationRoutes(deps),
    ...sharingRoutes(deps),
    ...publicLinkRoutes(deps),
    ...liveRoutes(deps),
    ...healthOfProjectRoutes(deps),
  ]);
  return [...resources, ...schemaRoutes(resources)];
}
