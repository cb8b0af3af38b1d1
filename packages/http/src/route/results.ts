/** Values that a handler can return instead of the declared body. */

import type { Writable } from 'node:stream';

/** A handler's result if the request asks for text instead of the declared body, for example with `format=csv`. */
export class TextContent {
  readonly text: string;
  readonly headers: Record<string, string>;

  /**
   * Creates a text response.
   * @param headers headers in addition to the content type, which the route declares
   */
  constructor(text: string, headers: Record<string, string> = {}) {
    this.text = text;
    this.headers = headers;
  }
}

/** A handler's result if its route declares a `stream`. */
export class MessageStream {
  readonly headers: Record<string, string>;
  readonly begin: (output: Writable) => void;

  /**
   * Creates a stream response.
   * @param headers headers in addition to the content type, which the route declares
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
  /** In the last portion, all fields of the page except `results`. Null in other portions. */
  end: Omit<Page, 'results'> | null;
}

/**
 * Result of a handler for a page whose results may be large. They are read and sent in portions, so that the complete
 * page is never in memory. An error in the first portion is treated like any other. After that, the headers have
 * already been sent, so an error closes the connection before the body is complete.
 */
export class PageStream<Page> {
  readonly portions: AsyncGenerator<PagePortion<Page>, void>;

  constructor(portions: AsyncGenerator<PagePortion<Page>, void>) {
    this.portions = portions;
  }
}

/**
 * Result of a handler for a response other than the success, which its route also declares. For example, 202 if the
 * work continues.
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
