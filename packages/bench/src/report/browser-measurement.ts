export interface SizeMeasurement {
  name: 'script' | 'slim' | 'react';
  /** Both after gzip. */
  bytes: number;
  referenceBytes: number;
  /** Of ours, where its bytes are, before gzip. */
  rooms: Record<string, number>;
}

export type Library = 'millrace' | 'reference';

/** A page without a library is what both are compared with. */
export type Side = Library | 'none';

/** One page, on a slowed processor, from the library's start to the last of the clicks. */
export interface ClickRun {
  side: Side;
  /** For each click, how long the page was busy with its events. */
  clickMs: number[];
  /** Tasks over 50 ms. */
  longTasks: number;
  /** All that the page's main thread did, whenever. */
  mainThreadMs: number;
}

export interface BrowserMeasurement {
  sizes: SizeMeasurement[];
  /** Evaluating the script and `init` until it returns, one for each page. */
  initMs: Record<Library, number[]>;
  clicks: ClickRun[];
}
