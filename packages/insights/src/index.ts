export { type EventStore, OverBudget } from './event-store/port.ts';
export { postgresEngine } from './event-store/postgres/engine.ts';
export { createEventStore } from './event-store/store.ts';
export { cacheKey, freshForMs, withFilters } from './override.ts';
export { patternProblem, postgresPattern } from './patterns.ts';
export { parseQuery, queryKinds } from './query.ts';
export { type QueryAnswer, type QueryDeps, runQuery } from './run.ts';
