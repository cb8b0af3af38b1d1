import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { findDefinitionsVersion } from '../definitions/definition-store.ts';
import type { DefinitionMemoryOptions } from '../definitions/flag-definitions.ts';
import { loadDefinitions } from '../definitions/stored-definitions.ts';
import { createVersionedMemory, type VersionedMemory } from '../memory/versioned-memory.ts';
import { localEvaluationDocument } from './local-evaluation-document.ts';

/** The document of local evaluation, ready to be sent. */
export interface FlagDocument {
  /** The same for the same text, whichever process made it; without quotes. */
  etag: string;
  gzipped: Buffer;
}

/** The documents of environments, from memory: written, hashed and compressed once per version. */
export function createFlagDocuments(options: DefinitionMemoryOptions): VersionedMemory<FlagDocument> {
  const { sql } = options;
  return createVersionedMemory({
    ...options,
    async load(environmentId) {
      const definitions = await loadDefinitions(sql, environmentId);
      // An empty document would make every SDK forget its flags.
      if (definitions === null) throw new Error('There is no environment with this id.');
      const value = await makeDocument(JSON.stringify(localEvaluationDocument(definitions)));
      return { version: definitions.version, value, bytes: value.gzipped.length + bytesBeside };
    },
    findVersion: (environmentId) => findDefinitionsVersion(sql, environmentId),
  });
}

const bytesBeside = 512;
const compress = promisify(gzip);

async function makeDocument(text: string): Promise<FlagDocument> {
  return {
    etag: createHash('sha256').update(text).digest('base64url').slice(0, 32),
    gzipped: await compress(text),
  };
}
