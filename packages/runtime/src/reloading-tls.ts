// TLS options that use replaced certificate files without a restart.

import { createSecureContext, type SecureContext } from 'node:tls';
import { createFileReader, type PemFile } from './setting-files.ts';

/** The files of a TLS client. The system's certificate authorities remain trusted. */
export interface TlsFiles {
  ca?: PemFile | undefined;
  cert?: PemFile | undefined;
  key?: PemFile | undefined;
}

/**
 * Options for `tls.connect`. `rejectUnauthorized` is always set, so that an environment variable cannot disable the
 * check.
 */
export interface ReloadingTls {
  rejectUnauthorized: true;
  /** A getter that returns the files' current content. Node.js reads it for each new connection. */
  readonly secureContext?: SecureContext;
}

/**
 * Returns TLS options that use the current content of the files for each new connection. Keeps using the previous
 * content while the files do not match, for example because only one of them has been replaced so far.
 */
export function createReloadingTls({ ca, cert, key }: TlsFiles): ReloadingTls {
  const parts = Object.entries({ ca, cert, key }).flatMap(([name, part]) =>
    part === undefined ? [] : [{ name, file: part.file, read: createFileReader(part.file, part.text) }],
  );
  if (parts.length === 0) return { rejectUnauthorized: true };
  let seen = '';
  let context: SecureContext | undefined;

  function current(): SecureContext {
    const texts = Object.fromEntries(parts.map(({ name, read }) => [name, read()]));
    const now = JSON.stringify(texts);
    if (context !== undefined && now === seen) return context;
    seen = now;
    try {
      context = createSecureContext(texts);
    } catch (error) {
      if (context === undefined) throw error;
      // Warn only once per file content, because the files may stay invalid.
      const names = parts.map(({ file }) => file).join(', ');
      process.emitWarning(
        `Cannot use the changed TLS files; keeping their previous contents: ${names} (${String(error)})`,
      );
    }
    return context;
  }

  return {
    rejectUnauthorized: true,
    get secureContext() {
      return current();
    },
  };
}
