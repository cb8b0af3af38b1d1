declare const LIBRARY_VERSION: string;

/** Of the package, put in when it is bundled. */
export const libraryVersion = LIBRARY_VERSION;
