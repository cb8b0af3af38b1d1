declare const LIBRARY_VERSION: string | undefined;

/**
 * The version of the package, which is inserted when the package is bundled. It is `source` if an application bundles
 * these files itself.
 */
export const libraryVersion: string = typeof LIBRARY_VERSION === 'undefined' ? 'source' : LIBRARY_VERSION;
