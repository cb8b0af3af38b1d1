/** What a handler returns in place of the declared body where the request asked for a text, e.g. `format=csv`. */
export class TextContent {
  readonly text: string;
  readonly headers: Record<string, string>;

  /** @param headers beside the content's type, which the route declares. */
  constructor(text: string, headers: Record<string, string> = {}) {
    this.text = text;
    this.headers = headers;
  }
}
