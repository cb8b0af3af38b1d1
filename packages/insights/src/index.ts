export { type EventStore, OverBudget } from './event-store/port.ts';
export { postgresEngine } from './event-store/postgres/engine.ts';
export { createEventStore } from './event-store/store.ts';
export { patternProblem, postgresPattern } from './patterns.ts';
export { parseQuery, queryError, queryKinds } from './query.ts';
export { type QueryAnswer, type QueryDeps, runQuery } from './run.ts';
