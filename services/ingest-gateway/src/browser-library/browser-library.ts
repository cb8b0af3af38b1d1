/** A file of the library, in memory in every form in which it is sent. */
export interface LibraryFile {
  plain: Buffer;
  br: Buffer;
  gzip: Buffer;
  /** Of the content; what is sent says beside which form it is. */
  etag: string;
  /** What a page may demand of it: `sha384-…`. */
  integrity: string;
}

/** The browser library as the build left it (packages/browser). Pages that name a version get that one, or none. */
export interface BrowserLibrary {
  /** What pages get that name no version. */
  version: string;
  /** By version and name. */
  files: ReadonlyMap<string, ReadonlyMap<string, LibraryFile>>;
}
