declare const LIBRARY_VERSION: string | undefined;

/**
 * The package version, which the bundler inserts. If an application bundles these source files directly, the version is
 * `source`.
 */
export const libraryVersion: string = typeof LIBRARY_VERSION === 'undefined' ? 'source' : LIBRARY_VERSION;
