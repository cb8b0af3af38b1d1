import type { FileField, Form } from './file-field.ts';

/** What handlers may see of a request. */
export interface ApiRequest {
  /** From `X-Request-Id` or made here; also in the answer and in the log. */
  id: string;
  method: string;
  /** Scheme and host under which the caller reached us, without a trailing slash. */
  baseUrl: string;
  /** The path as the caller wrote it, with or without its trailing slash. */
  path: string;
  /** IP address of the client as far as it can be trusted; empty when the connection is gone. */
  address: string;
  query: URLSearchParams;
  header(name: string): string | undefined;
  /**
   * The parsed JSON body, `{}` when empty; read once. Only for a caller who is known: it may be large.
   * @throws AppError, see `createJsonBodyReader`.
   */
  body(): Promise<unknown>;
  /** The same as far as anybody may have it read: small and not compressed. @throws AppError. */
  smallBody(): Promise<unknown>;
  /** The body as a form with a file, read once. Only for a caller who is known. @throws AppError, see `readForm`. */
  form<File>(file: FileField<File>): Promise<Form<File>>;
}
