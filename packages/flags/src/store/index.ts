export { inTimeSlices } from '../steps.ts';
export { findRemoteConfig } from './definition-store.ts';
export {
  compileDefinitions,
  createFlagDefinitions,
  loadDefinitions,
  type StoredDefinitions,
  type StoredFlag,
} from './definitions.ts';
export { createFlagDocuments, type FlagDocument, localEvaluationDocument } from './documents.ts';
export { loadStoredData, needsStoredData } from './request-data.ts';
export type { VersionedMemory } from './versioned-memory.ts';
