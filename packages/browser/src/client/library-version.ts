declare const LIBRARY_VERSION: string | undefined;

/** Version of the package, put in when it is bundled: `source` for those who bundle these files themselves. */
export const libraryVersion: string = typeof LIBRARY_VERSION === 'undefined' ? 'source' : LIBRARY_VERSION;
