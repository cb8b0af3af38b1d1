export { nullLabel, otherLabel } from './breakdown-labels.ts';
export { checkEventFilters, checkFilters, checkQuery } from './check-query.ts';
export { buildTileQuery, sortByLayout } from './dashboard.ts';
export { readEventFilters, readPropertyFilters } from './event-filters.ts';
export {
  type CopiedUntil,
  type CopyClaim,
  claimCopy,
  deleteEventRemovals,
  type EventRemoval,
  finishRestoredCopy,
  isRebuilding,
  readCopiedUntil,
  readEventRemovals,
  readOldestStoredAt,
  readRestoredCopy,
  releaseCopyClaim,
  requestCopyAfterRestore,
  saveCopiedUntil,
} from './event-store/clickhouse/copy-store.ts';
export { createClickHouseEngine } from './event-store/clickhouse/engine.ts';
export { copyPersonPortion, restartPersonCopy } from './event-store/clickhouse/person-copy.ts';
export { hasPersonTriggers, stopRecordingPersons } from './event-store/clickhouse/person-copy-store.ts';
export { RebuildLosesEvents, rebuildEvents } from './event-store/clickhouse/rebuild.ts';
export { createCopySpan } from './event-store/clickhouse/span.ts';
export {
  copyEvents,
  countCopiedEvents,
  createTables,
  deleteEvents,
  deleteEventsSince,
  deleteOldEvents,
  type EventsToRemove,
  propertyColumns,
  type ReadablePostgres,
  removePersonData,
} from './event-store/clickhouse/tables.ts';
export {
  type ClickHouseClient,
  connectClickHouse,
  type EventStoreConfig,
  eventStoreFields,
  type OpenEventStore,
  openEventStore,
} from './event-store/open.ts';
export { type EventStore, OverBudget } from './event-store/port.ts';
export { createPostgresEngine, createSqlEngine, printPersonCondition } from './event-store/postgres/engine.ts';
export { buildEventSpanSql, type EventSpan } from './event-store/postgres/span-of-events.ts';
export type { EventKey, EventList, EventListQuery, FoundKeys, ListedEvent } from './event-store/queries.ts';
export type { Condition } from './event-store/selection.ts';
export { createEventStore } from './event-store/store.ts';
export { compileInMemoryCondition } from './in-memory.ts';
export { changeSource, findSource, overrideFilters, overrideVariables } from './override.ts';
export { parseQuery } from './parse-query.ts';
export { findPatternProblem, toPostgresPattern } from './patterns.ts';
export type { ProjectSettings } from './plan/context.ts';
export { filterOperators } from './plan/property-operators.ts';
export { queryKinds } from './query.ts';
export { isRecord } from './query-parts.ts';
export { findModifierProblem, readProjectSettings, readPropertyTypesInQuery } from './records-store.ts';
export { createBudgetError, narrowingAdvice, type QueryDeps, type QueryResult, runQuery } from './run.ts';
export {
  type ExportColumn,
  type ExportQuery,
  type PreparedExport,
  prepareExport,
  readExportQuery,
} from './sql/export.ts';
export { parseExpressionsAhead } from './sql/expressions.ts';
export { createParser as createSqlParser, parseAhead, type SqlParser } from './sql/parse.ts';
export { SqlProblem } from './sql/problem.ts';
export {
  findValueProblem,
  findVariablesProblem,
  mergeVariables,
  type VariableType,
  variableTypes,
} from './sql-variables.ts';
export { findVisualizationProblem, readVisualization, type Visualization } from './visualization.ts';
