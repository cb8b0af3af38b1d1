export { compileDefinitions, createFlagDefinitions } from './definitions/flag-definitions.ts';
export { loadDefinitions, type StoredDefinitions, type StoredFlag } from './definitions/stored-definitions.ts';
export { createFlagDocuments, type FlagDocument } from './document/flag-documents.ts';
export { localEvaluationDocument } from './document/local-evaluation-document.ts';
export { findRemoteConfig } from './document/remote-config-store.ts';
export { inTimeSlices } from './in-time-slices.ts';
export type { VersionedMemory } from './memory/versioned-memory.ts';
export { loadStoredData, needsStoredData } from './request-data/load-stored-data.ts';
