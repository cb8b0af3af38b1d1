/**
 * The part of `@xmldom/xmldom` that is used here. Its own types bring those of a browser's page into every file of the
 * server, where `Body` and `Blob` mean something else; the compiler takes these instead (`paths` of the compiler's settings).
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
    /** Empty where there is none. */
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
