import type { Readable } from 'node:stream';

/**
 * A file that may come with the fields of a body, as `multipart/form-data`. It is read as it arrives: what `read` makes of
 * it is all that is ever kept of it.
 */
export interface FileField<File> {
  /** Name of the part. */
  name: string;
  description: string;
  /** Of the file. */
  maxBytes: number;
  /** @throws AppError `invalid` naming the part. What it does not read is thrown away. */
  read(content: Readable): Promise<File>;
}

/** A body as `multipart/form-data`: its fields as they were written, and what was made of the file. */
export interface Form<File> {
  fields: Record<string, string>;
  /** Absent: no file was sent. */
  file: File | undefined;
}
