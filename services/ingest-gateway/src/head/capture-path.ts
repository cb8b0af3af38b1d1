/** A path that takes events. `label` is for metrics and logs, a bounded set. */
export interface CapturePath {
  label: string;
  /** The name an event without one gets; null: such an event is dropped (docs/wire-rules.md#dropped-events). */
  nameForNameless: string | null;
  /** Whether a body that is neither a batch nor an event with a name is refused for having no `batch`. */
  takesBatches: boolean;
}

/** The last two are of SDKs that send what language models said by a way of its own; here they are events like others. */
const labels = ['/capture', '/batch', '/e', '/i/v0/e', '/track', '/engage', '/i/v0/ai', '/i/v0/ai/batch'];

/** Every path exists with and without a trailing slash, never by a redirect (docs/wire-rules.md#paths). */
const paths = new Map<string, CapturePath>(
  labels.flatMap((label) => {
    const path = {
      label,
      nameForNameless: label === '/engage' ? '$identify' : null,
      takesBatches: label.endsWith('/batch'),
    };
    return [
      [label, path],
      [`${label}/`, path],
    ];
  }),
);

/** @param path without the query. */
export function findCapturePath(path: string): CapturePath | undefined {
  return paths.get(path);
}
