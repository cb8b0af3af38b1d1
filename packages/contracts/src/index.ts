export { maxBackfillRuns } from './backfill-limit.ts';
export {
  type CapturedEvent,
  type CapturedRecord,
  type CapturedWarning,
  computeRecordKey,
  encodeCapturedRecord,
  type GatewayWarningType,
  gatewayWarnings,
  type JsonObject,
  type WarningSeverity,
} from './captured-record.ts';
export { eventNames, maxDefinedNameBytes } from './event-names.ts';
export {
  type DestinationField,
  type ExportDestinationType,
  type ExportModel,
  exportDestinations,
  exportModels,
  isExportDestinationType,
} from './export-destinations.ts';
export { flagPayloadEncryptionContext, isSealedPayload, redactedPayload } from './flag-payloads.ts';
export { cutToCodePoints, isLongerThan } from './json/code-points.ts';
export { isDeeperThan } from './json/is-deeper-than.ts';
export { isObject } from './json/is-object.ts';
export { isMembershipLevel, type MembershipLevel, membershipLevels } from './membership-levels.ts';
export {
  findPlanFeature,
  hasPlanFeature,
  isPlanFeature,
  isPlanName,
  listProductFeatures,
  type PlanFeature,
  type PlanLimits,
  type PlanName,
  type ProductFeature,
  planFeatures,
  planNames,
  readPlanLimits,
  toLimitFeatures,
} from './plans.ts';
export {
  type ProcessedEvent,
  type ProcessedPersonMode,
  processedEventKey,
  /** @internal */
  processedEventSchema,
  processedEventVersion,
} from './processed-event.ts';
export { type ProjectChange, parseProjectChange, projectChangeChannel } from './project-changes.ts';
export { parseRecordId } from './record-id.ts';
export { isRestrictionKind, type Restriction, type RestrictionKind, restrictionKinds } from './restrictions.ts';
export {
  allScopes,
  type GrantedScope,
  includesScope,
  isScopeName,
  type Scope,
  type ScopeName,
  type ScopeObject,
} from './scopes.ts';
export {
  isMasked,
  listSubscriptionTargets,
  maskTarget,
  maskUrl,
  type SubscriptionTargetType,
  subscriptionTargetTypes,
} from './subscription-targets.ts';
export { consumerGroup, type EventTopic, eventTopics, publisherGroup, type TopicNames, topicNames } from './topics.ts';
