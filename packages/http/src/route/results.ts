/** Values that a handler can return instead of the declared body. */

import type { Writable } from 'node:stream';

/** Returned by a handler instead of the declared body if the request asked for text, for example with `format=csv`. */
export class TextContent {
  readonly text: string;
  readonly headers: Record<string, string>;

  /**
   * Creates the text response.
   * @param headers sent in addition to the content type, which the route declares
   */
  constructor(text: string, headers: Record<string, string> = {}) {
    this.text = text;
    this.headers = headers;
  }
}

/** Returned by a handler if its route declares a `stream`. */
export class MessageStream {
  readonly headers: Record<string, string>;
  readonly begin: (output: Writable) => void;

  /**
   * Creates the stream response.
   * @param headers sent in addition to the content type, which the route declares
   * @param begin called once, after the headers were sent. It ends the output. It listens to the `close` event, because
   *   the client may disconnect at any time, even before the call.
   */
  constructor(headers: Record<string, string>, begin: (output: Writable) => void) {
    this.headers = headers;
    this.begin = begin;
  }
}

export interface PagePortion<Page> {
  results: Page extends { results: (infer Item)[] } ? Item[] : never;
  /** All fields of the page except `results` if this is the last portion. Otherwise null. */
  end: Omit<Page, 'results'> | null;
}

/**
 * Returned by a handler for a page whose results may be large. They are read and sent in portions, so that the complete
 * page is never in memory. An error in the first portion is handled like any other. After that, the headers have
 * already been sent, so an error closes the connection before the body is complete.
 */
export class PageStream<Page> {
  readonly portions: AsyncGenerator<PagePortion<Page>, void>;

  constructor(portions: AsyncGenerator<PagePortion<Page>, void>) {
    this.portions = portions;
  }
}

/**
 * Returned by a handler for another response that its route declares instead of the success, for example that the work
 * continues.
 */
export class WithStatus {
  readonly status: 202 | 400;
  readonly value: unknown;

  constructor(status: 202 | 400, value: unknown) {
    this.status = status;
    this.value = value;
  }
}

/** Returned by a handler whose response has additional headers, for example a cookie. */
export class WithHeaders<T> {
  readonly value: T;
  readonly headers: Record<string, string | string[]>;

  constructor(value: T, headers: Record<string, string | string[]>) {
    this.value = value;
    this.headers = headers;
  }
}
