export { runInTimeSlices } from '../steps.ts';
export { findRemoteConfig } from './definition-store.ts';
export {
  compileDefinitions,
  createFlagDefinitionCache,
  loadDefinitions,
  type StoredDefinitions,
  type StoredFlag,
} from './definitions.ts';
export { buildLocalEvaluationDocument, createFlagDocumentCache, type FlagDocument } from './documents.ts';
export { loadStoredData, needsStoredData } from './request-data.ts';
export type { VersionedCache } from './versioned-memory.ts';
