/**
 * Declares the types that Millrace uses from `@xmldom/xmldom`. The compiler reads this file in place of the package's
 * own types (`paths` in its settings). The package's types would add browser types to all files, and so give `Body` and
 * `Blob` another meaning there.
 */
declare module '@xmldom/xmldom' {
  export interface Node {
    readonly nodeType: number;
    readonly parentNode: Node | null;
    readonly childNodes: ArrayLike<Node>;
    readonly textContent: string | null;
  }
  export interface Element extends Node {
    readonly localName: string | null;
    readonly namespaceURI: string | null;
    /** Returns the attribute's value, or an empty string if the attribute is missing. */
    getAttribute(name: string): string;
    getElementsByTagName(name: string): ArrayLike<Element>;
  }
  export interface Document extends Node {
    readonly documentElement: Element | null;
  }
  export class DOMParser {
    constructor(options?: { errorHandler?: Record<'warning' | 'error' | 'fatalError', (message: string) => void> });
    parseFromString(text: string, mediaType: string): Document;
  }
}
