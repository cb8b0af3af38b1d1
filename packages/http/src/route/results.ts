/** Values that a handler can return instead of the declared body. */

import type { Writable } from 'node:stream';

/** A handler's result if the request selects a text format, for example with `format=csv`. */
export class TextContent {
  readonly text: string;
  readonly headers: Record<string, string>;

  /**
   * Creates a text response.
   * @param headers the headers to send in addition to the content type, which the route declares
   */
  constructor(text: string, headers: Record<string, string> = {}) {
    this.text = text;
    this.headers = headers;
  }
}

/** The handler's result on a route that declares a `stream`. */
export class MessageStream {
  readonly headers: Record<string, string>;
  readonly begin: (output: Writable) => void;

  /**
   * Creates a stream response.
   * @param headers the headers to send in addition to the content type, which the route declares
   * @param begin called once, after the headers were sent. It must end the output. It must also listen to the output's
   *   `close` event, because the client may disconnect at any time, even before the call.
   */
  constructor(headers: Record<string, string>, begin: (output: Writable) => void) {
    this.headers = headers;
    this.begin = begin;
  }
}

export interface PagePortion<Page> {
  results: Page extends { results: (infer Item)[] } ? Item[] : never;
  /** All fields of the page except `results`. Null in every chunk before the last. */
  end: Omit<Page, 'results'> | null;
}

/**
 * Result of a handler for a page whose results may be large. They are read and sent in chunks, so that the complete
 * page is never in memory. An error in the first chunk gets an ordinary error response. After the first chunk, the
 * headers have been sent, so an error closes the connection before the body is complete.
 */
export class PageStream<Page> {
  readonly portions: AsyncGenerator<PagePortion<Page>, void>;

  constructor(portions: AsyncGenerator<PagePortion<Page>, void>) {
    this.portions = portions;
  }
}

/**
 * A handler's result for a declared response other than the success response. For example, 202 if the work continues.
 */
export class WithStatus {
  readonly status: 202 | 400;
  readonly value: unknown;

  constructor(status: 202 | 400, value: unknown) {
    this.status = status;
    this.value = value;
  }
}

/** A handler's result that adds headers to the response, for example a cookie. */
export class WithHeaders<T> {
  readonly value: T;
  readonly headers: Record<string, string | string[]>;

  constructor(value: T, headers: Record<string, string | string[]>) {
    this.value = value;
    this.headers = headers;
  }
}
