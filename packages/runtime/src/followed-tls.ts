import { createSecureContext, type SecureContext } from 'node:tls';
import { followFile, type PemFile } from './setting-files.ts';

/** What a client needs for TLS, as far as it is not what everybody has. */
export interface TlsFiles {
  ca?: PemFile | undefined;
  cert?: PemFile | undefined;
  key?: PemFile | undefined;
}

/** Part of the options of `tls.connect`. Always a certificate by a known authority: said aloud, so that no variable weakens it. */
export interface FollowedTls {
  rejectUnauthorized: true;
  /** Read by whoever connects, for each connection. */
  readonly secureContext?: SecureContext;
}

/**
 * Authorities and certificate as their files have them when a connection is made. Files that do not fit together, for instance
 * because only one of them is exchanged yet, are not taken until they do.
 */
export function followTls({ ca, cert, key }: TlsFiles): FollowedTls {
  const parts = Object.entries({ ca, cert, key }).flatMap(([name, part]) =>
    part === undefined ? [] : [{ name, file: part.file, read: followFile(part.file, part.text) }],
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
      // Once for each state of the files: should it be the last one, somebody has to hear of it.
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
