declare const LIBRARY_VERSION: string | undefined;

/**
 * The version of the package, inserted when it is bundled. `source` for applications that bundle these files
 * themselves.
 */
export const libraryVersion: string = typeof LIBRARY_VERSION === 'undefined' ? 'source' : LIBRARY_VERSION;
