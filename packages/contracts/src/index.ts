export {
  type CapturedEvent,
  type CapturedRecord,
  type CapturedWarning,
  encodeCapturedRecord,
  type GatewayWarningType,
  type JsonObject,
  recordKey,
} from './captured-record.ts';
export { eventNames } from './event-names.ts';
export { allScopes, type GrantedScope, grants, isScope, type Scope, type ScopeObject, scopeObjects } from './scopes.ts';
export { consumerGroup, type Lane, lanes, type TopicNames, topicNames } from './topics.ts';
