export { nullLabel, otherLabel } from './breakdown-labels.ts';
export { checkFilters, checkQuery } from './check-query.ts';
export { inOrderOfLayout, queryOfTile } from './dashboard.ts';
export { checkEventFilters, readEventFilters, readPropertyFilters } from './event-filters.ts';
export {
  claimCopy,
  finishRemovals,
  isRebuilding,
  noteCopied,
  oldestStored,
  type Removal,
  readCopiedUntil,
  readRemovals,
  releaseCopy,
} from './event-store/clickhouse/copy-store.ts';
export { clickhouseEngine } from './event-store/clickhouse/engine.ts';
export { CoversLess, rebuildEvents } from './event-store/clickhouse/rebuild.ts';
export { createSpan } from './event-store/clickhouse/span.ts';
export {
  copyEvents,
  countCopied,
  createTables,
  deleteEvents,
  deleteOldEvents,
  type ReadablePostgres,
  type RemovedEvents,
  stripEvents,
  usualProperties,
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
export { postgresEngine, printPersons, sqlEngine } from './event-store/postgres/engine.ts';
export { type EventSpan, spanOfEvents } from './event-store/postgres/span-of-events.ts';
export type { EventKey, EventList, ListedEvent, ListQuestion } from './event-store/queries.ts';
export type { Condition } from './event-store/selection.ts';
export { createEventStore } from './event-store/store.ts';
export { matchesInMemory } from './in-memory.ts';
export { changeSource, sourceOf, withFilters, withVariables } from './override.ts';
export { parseQuery } from './parse-query.ts';
export { patternProblem, postgresPattern } from './patterns.ts';
export type { ProjectSettings } from './plan/context.ts';
export { filterOperators } from './plan/property-tests.ts';
export { queryKinds } from './query.ts';
export { isRecord } from './query-parts.ts';
export { readSettings } from './records-store.ts';
export { budgetProblem, narrowing, type QueryAnswer, type QueryDeps, runQuery } from './run.ts';
export {
  type ExportColumn,
  type ExportQuery,
  type PreparedExport,
  prepareExport,
  readExportQuery,
} from './sql/export.ts';
export { createParser as createSqlParser, parseAhead, type SqlParser } from './sql/parse.ts';
export { SqlProblem } from './sql/problem.ts';
export { mergedVariables, type VariableType, valueProblem, variablesProblem, variableTypes } from './sql-variables.ts';
export { readVisualization, type Visualization, visualizationProblem } from './visualization.ts';
