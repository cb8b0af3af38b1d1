// TLS options that apply changed certificate files without a restart.

import { createSecureContext, type SecureContext } from 'node:tls';
import { createFileReader, type PemFile } from './setting-files.ts';

/** The files that a TLS client uses in addition to the system's certificate authorities. */
export interface TlsFiles {
  ca?: PemFile | undefined;
  cert?: PemFile | undefined;
  key?: PemFile | undefined;
}

/**
 * Options of `tls.connect`. `rejectUnauthorized` is always set, so that no environment variable can turn the check off.
 */
export interface ReloadingTls {
  rejectUnauthorized: true;
  /** The current content of the files, which is read for each new connection. */
  readonly secureContext?: SecureContext;
}

/**
 * Returns TLS options that use the current content of the files for each new connection. If the files do not belong
 * together, for example because only one of them has been replaced so far, the previous content stays in use.
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
      // Warn only once per content of the files, because the problem may be permanent.
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
